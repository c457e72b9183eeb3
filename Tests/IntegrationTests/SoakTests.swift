// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSSQLite
import Foundation
import HTTPTypes
import Testing

/// Everything at once, for as long as one likes: what grows, grows here.
///
/// `make soak SECONDS=N` says how long; five seconds otherwise, which prove that nothing is left at the end.
@Suite("Long runs", .enabled(if: ServerFixture.path(of: "nginx") != nil, "nginx is not installed"))
struct SoakTests {
  private static let seconds =
    ProcessInfo.processInfo.environment["DIRECTDNS_SOAK_SECONDS"].flatMap { Int($0) } ?? 5

  /// Names that live, each for two seconds an answer, and one in eight that never will.
  private static let names = (0..<1_000).map { number -> String in
    switch number % 24 {
    case 7: "gone-\(number).lab.test"
    case 15: "broken-\(number).lab.test"
    case 23: "error-\(number).lab.test"
    default: "www-\(number).lab.test"
    }
  }

  private static func isKnown(_ name: String) -> Bool { name.hasPrefix("www-") }

  @Test func `memory, descriptors and threads are at the end what they were at the start`() async throws {
    try await SoakSite.running { site async throws in
      ThrownErrors.keepNoBacktraces()
      let folder = try ServerFixture.newFolder("soak")
      // What a first life leaves for good: the library's own thread pools, libcurl's tables.
      _ = try await live(beside: site, in: folder, for: 1)
      let before = Usage.now
      let samples = try await live(beside: site, in: folder, for: Self.seconds)
      #expect(await Usage.settles { $0.descriptors <= before.descriptors }, "\(Usage.now) after \(before)")
      #expect(await Usage.settles { $0.threads <= before.threads }, "\(Usage.now) after \(before)")
      let (first, last) = (samples.median(of: samples.count / 4..<samples.count / 2), samples.median(last: 4))
      for line in samples.table { print(line) }
      let (slow, slower) = (samples.slowest(of: samples.count / 4..<samples.count / 2), samples.slowest(last: 4))
      print(
        "figures: \(Self.seconds) s, \(first) at first and \(last) at last; p99 \(slow) at first and \(slower) at last")
      #expect(samples.flatMap(\.tally.failures) == [])
      // The client keeps as many connections as it may, and each has one end here.
      let connections = DirectClientConfiguration().connections + 64
      #expect(last.descriptors <= first.descriptors + connections, "\(last) after \(first)")
      // A store's thread stays for five seconds behind its last work, and stores come and go.
      #expect(last.threads <= first.threads + 12, "\(last) after \(first)")
      guard Self.seconds >= 60 else { return }
      // What takes longer the longer a process lives is three times as slow some day; some milliseconds are the machine's.
      for (what, first, last) in [
        ("lookups", slow.resolving, slower.resolving), ("requests", slow.requesting, slower.requesting),
      ] {
        #expect(last <= max(first * 3, .milliseconds(50)), "\(what): p99 \(last) after \(first)")
      }
      guard Usage.isOurs else { return }
      // glibc gives threads an arena each, and each keeps what it once had: where threads come and go that grows for an
      // hour, though nothing leaks. `make soak` gives it one arena, and then memory stays what it was.
      let hasOneArena = ProcessInfo.processInfo.environment["MALLOC_ARENA_MAX"] == "1"
      let room = hasOneArena ? 3 << 20 : first.inUse / 8 + 8 << 20
      #expect(last.resident <= first.resident + room, "\(last) after \(first)")
      #expect(last.inUse <= first.inUse + room, "\(last) after \(first)")
    }
  }

  // MARK: A life

  /// Resolves and sends for so long, and shuts everything down; the process's usage as it went.
  private func live(beside site: SoakSite, in folder: URL, for seconds: Int) async throws -> [Usage] {
    var configuration = ResolverConfiguration(providers: [
      ProviderConfiguration(
        provider: JSONProvider(name: "soak", url: try WebURL(site.jsonURL)), bootstrap: [.ipv4(0x7F00_0001)])
    ])
    configuration.usesSystemDNS = false
    configuration.capacity = 4_096
    configuration.trust = TrustStore(privateAuthorities: [site.caFile])
    configuration.store = SQLiteAnswerStore(.init(path: folder.appending(path: "answers.sqlite").path))
    let resolver = try DirectResolver(configuration)
    var settings = DirectClientConfiguration()
    settings.policy = AddressPolicy(allowedNetworks: [try IPNetwork(parsing: "127.0.0.0/8")])
    settings.trust = configuration.trust
    settings.cookies = CookieJar()
    let client = try DirectClient(settings, resolver: resolver)

    let end = ContinuousClock.now + .seconds(seconds)
    let tally = Tally()
    let samples = try await withThrowingTaskGroup(of: Void.self, returning: [Usage].self) { group in
      for worker in 0..<16 {
        group.addTask {
          var numbers = SeededNumbers(seed: UInt64(worker) &+ 1)
          while ContinuousClock.now < end { await act(client, resolver, site, tally, &numbers) }
        }
      }
      group.addTask { try await disturb(client, resolver, site, until: end) }
      var samples: [Usage] = []
      while ContinuousClock.now < end {
        try await Task.sleep(for: .milliseconds(max(250, seconds * 1_000 / 60)))
        samples.append(Usage.now(tally.take()))
      }
      try await group.waitForAll()
      // What was under way at the end may have failed since, and what hangs has by its time limit.
      samples.append(Usage.now(tally.take()))
      return samples
    }
    await client.shutdown()
    let flushed = await resolver.shutdown(flushingWithin: .seconds(10))
    #expect(flushed.unwritten == 0)
    return samples
  }

  /// One thing that a pipeline does.
  private func act(
    _ client: DirectClient, _ resolver: DirectResolver, _ site: SoakSite, _ tally: Tally,
    _ numbers: inout SeededNumbers
  ) async {
    let name = Self.names[Int.random(in: 0..<Self.names.count, using: &numbers)]
    let isTLS = Bool.random(using: &numbers)
    let base = isTLS ? "https://\(name):\(site.port)" : "http://\(name):\(site.httpPort)"
    let began = ContinuousClock.now
    do throws(DirectDNSError) {
      switch Int.random(in: 0..<12, using: &numbers) {
      case 0..<5:
        _ = try await resolver.resolve(name)
        tally.resolved(ContinuousClock.now - began)
        // Known once, a name is known for good: an expired answer serves where a new one cannot be had.
        #expect(Self.isKnown(name), "\(name) was resolved")
      case 5..<7:
        #expect(try await client.get("\(base)/ok").body.text() == "ok")
        tally.requested(ContinuousClock.now - began)
      case 7: #expect(try await client.get("\(base)/moved").body.text() == "ok")
      case 8: #expect(try await client.get("\(base)/big").body.collect(upTo: 1 << 20).count == 262_144)
      case 9:
        // nginx closes without a word; asked once more, it does so again.
        let request = Task { try await client.get("\(base)/reset") }
        if case .success = await request.result { tally.failed("\(name): an answer to /reset") }
      case 10:
        // Read a little, and go.
        let response = try await client.get("\(base)/big")
        var chunks = response.body.makeAsyncIterator()
        _ = try await chunks.next()
      default:
        let request = Task { try await client.get("\(base)/slow").body.collect(upTo: 1 << 20) }
        try? await Task.sleep(for: .milliseconds(Int.random(in: 0..<30, using: &numbers)))
        request.cancel()
        _ = await request.result
      }
    } catch {
      // A name that has an address is reached whatever goes on around.
      if Self.isKnown(name) { tally.failed("\(error)") }
    }
  }

  /// What goes on around: other configurations, other networks, names forgotten, other clients and stores.
  private func disturb(
    _ client: DirectClient, _ resolver: DirectResolver, _ site: SoakSite, until end: ContinuousClock.Instant
  ) async throws {
    var round = 0
    while ContinuousClock.now < end {
      round += 1
      try await Task.sleep(for: .milliseconds(100))
      switch round % 5 {
      case 0:
        var configuration = resolver.configuration
        configuration.hedges.toggle()
        try resolver.update(configuration)
      case 1: client.networkDidChange()
      case 2: resolver.invalidate(try HostName(Self.names[round % Self.names.count]))
      case 3: resolver.keepAlive([try HostName("www-\(round % 40).lab.test")])
      default:
        var configuration = resolver.configuration
        let folder = try ServerFixture.newFolder("soak-other")
        configuration.store = SQLiteAnswerStore(.init(path: folder.appending(path: "a.sqlite").path))
        let other = try DirectResolver(configuration)
        _ = try await other.resolve("www-0.lab.test")
        #expect(await other.shutdown(flushingWithin: .seconds(10)).unwritten == 0)
        try FileManager.default.removeItem(at: folder)
      }
    }
  }
}
