// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import Testing

@testable import DirectDNS

/// The one thread against name servers on loopback.
@Suite(.timeLimit(.minutes(1)))
struct CaresLoopTests {
  private static let names = (0..<600).map { "host\($0).shop.test" }
  private static let records = RecordTable { table in
    for (number, name) in names.enumerated() { table.add(name, [.ipv4(0xC000_0200 + UInt32(number))], ttl: 60) }
  }

  private static func lookup(
    _ name: String, at server: FakeNameServer?, timeout: Int64 = 20_000
  ) -> CaresLookup {
    CaresLookup(
      host: HostName(canonical: name), family: .ipv4, servers: server?.serverAddress, timeout: timeout)
  }

  /// Looks up all names at once: each finds its own address.
  ///
  /// c-ares gives up after 2 s, which a busy machine may take: such a lookup begins again.
  private static func lookUpAll(at server: FakeNameServer, by loop: CaresLoop) async -> Int {
    await withTaskGroup(of: Bool.self) { group in
      for (number, name) in names.enumerated() {
        group.addTask {
          var outcome = await lookup(name, at: server).run(by: loop)
          for _ in 0..<5 where outcome == .failure(.timedOut) {
            outcome = await lookup(name, at: server).run(by: loop)
          }
          return (try? outcome.get())?.addresses == [.ipv4(0xC000_0200 + UInt32(number))]
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
  }

  /// Waits until so many names were asked for: of one that has no answer after 0.7 s c-ares asks again.
  private static func waitForNames(_ count: Int, at server: FakeNameServer) async {
    var queries = count
    while await server.waitForQueries(queries), Set(server.queries.map(\.name)).count < count { queries += 1 }
  }

  @Test func `hundreds of lookups have one thread, 128 of them at a time, and each gets its own answer`() async {
    await #expect(processExitsWith: .success) {
      let former = try await FakeNameServer.start(records: CaresLoopTests.records)
      let server = try await FakeNameServer.start(records: CaresLoopTests.records)
      let loop = CaresLoop()
      // Threads that the runtime begins with stay.
      _ = await CaresLoopTests.lookUpAll(at: former, by: loop)
      let before = ProcessState.threads
      server.misbehave(.hold)
      async let found = CaresLoopTests.lookUpAll(at: server, by: loop)
      await CaresLoopTests.waitForNames(128, at: server)
      #expect(ProcessState.threads < before + 20)
      #expect(Set(server.queries.map(\.name)).count == 128)
      server.behave()
      server.release()
      #expect(await found == 600)
      await former.stop()
      await server.stop()
    }
  }

  @Test func `a lookup that is cancelled lets go at once, and of its socket with the last of its channel`() async throws
  {
    let server = try await FakeNameServer.start(records: Self.records)
    server.misbehave(.drop)
    let loop = CaresLoop()
    let tasks = (0..<40).map { number in
      Task { await Self.lookup("host\(number).shop.test", at: server).run(by: loop) }
    }
    await server.waitForQueries(40)
    #expect(Self.sockets(to: server) == 1)
    for task in tasks { task.cancel() }
    for task in tasks { #expect(await task.value == .failure(.cancelled)) }
    #expect(await ProcessState.eventually { Self.sockets(to: server) == 0 })
    await server.stop()
  }

  /// The UDP sockets that are connected to a server, as the kernel lists them.
  private static func sockets(to server: FakeNameServer) -> Int {
    let peer = ":" + String(server.port, radix: 16, uppercase: true)
    let lines = (try? String(contentsOfFile: "/proc/self/net/udp", encoding: .utf8))?.split(separator: "\n") ?? []
    return lines.count { $0.split(separator: " ").dropFirst(2).first?.hasSuffix(peer) == true }
  }

  @Test func `a caller that was cancelled before sends nothing`() async throws {
    let server = try await FakeNameServer.start(records: Self.records)
    let loop = CaresLoop()
    let outcome = await Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return await Self.lookup("host1.shop.test", at: server).run(by: loop)
    }.value
    #expect(outcome == .failure(.cancelled))
    // What is asked later is the first that comes.
    #expect(await Self.lookup("host2.shop.test", at: server).run(by: loop).failure == nil)
    #expect(Set(server.queries.map(\.name)) == ["host2.shop.test"])
    await server.stop()
  }

  @Test func `those that wait for their turn wait no longer than their time`() async throws {
    let server = try await FakeNameServer.start(records: Self.records)
    server.misbehave(.drop)
    let loop = CaresLoop()
    let begun = Self.names.prefix(128).map { name in
      Task { await Self.lookup(name, at: server, timeout: 2_000).run(by: loop) }
    }
    await Self.waitForNames(128, at: server)
    let waiting = Self.names.dropFirst(128).prefix(20).map { name in
      Task { await Self.lookup(name, at: server, timeout: 200).run(by: loop) }
    }
    for task in waiting { #expect(await task.value == .failure(.timedOut)) }
    #expect(Set(server.queries.map(\.name)).count == 128)
    for task in begun { #expect(await task.value == .failure(.timedOut)) }
    await server.stop()
  }

  @Test func `those that wait begin when all before them have timed out at once`() async throws {
    let server = try await FakeNameServer.start(records: Self.records)
    let first = Set(Self.names.prefix(128))
    server.misbehave(.drop, when: { first.contains($0.name ?? "") })
    let loop = CaresLoop()
    let begun = Self.names.prefix(128).map { name in
      Task { await Self.lookup(name, at: server, timeout: 500).run(by: loop) }
    }
    await server.waitForQueries(128)
    let waiting = Self.names.dropFirst(128).prefix(20).map { name in
      Task { await Self.lookup(name, at: server, timeout: 600_000).run(by: loop) }
    }
    for task in begun { #expect(await task.value == .failure(.timedOut)) }
    for task in waiting { await #expect(throws: Never.self) { _ = try await task.value.get() } }
    await server.stop()
  }

  @Test func `one that is not answered keeps no other waiting, and ends by its own time`() async throws {
    let server = try await FakeNameServer.start(records: Self.records)
    server.misbehave(.drop, when: { $0.name == "host1.shop.test" })
    let loop = CaresLoop()
    async let silent = Self.lookup("host1.shop.test", at: server, timeout: 300).run(by: loop)
    for number in 2..<20 {
      #expect(try await Self.lookup("host\(number).shop.test", at: server).run(by: loop).get().ttl == 60)
    }
    #expect(await silent == .failure(.timedOut))
    await server.stop()
  }

  @Test func `the thread ends when nothing is asked for a while, and begins again`() async throws {
    let server = try await FakeNameServer.start(records: Self.records)
    let loop = CaresLoop(idleTime: .milliseconds(1))
    #expect(!loop.loop.mailbox.isRunning)
    for _ in 0..<3 {
      #expect(await Self.lookup("host1.shop.test", at: server).run(by: loop).failure == nil)
      #expect(await ProcessState.eventually { !loop.loop.mailbox.isRunning })
    }
    // A thread that is about to end is none any more, though it has yet to close what it had.
    await loop.loop.end()
    #expect(Self.sockets(to: server) == 0)
    await server.stop()
  }

  @Test func `a lookup goes by resolv.conf as it is by then, and one under way by what it was`() async throws {
    let folder = try FileFolder()
    let server = try await FakeNameServer.start(records: Self.records)
    let loop = CaresLoop(resolvConf: folder / "resolv.conf")
    try folder.write("search shop.test\n", to: "resolv.conf")
    server.misbehave(.hold, times: 1)
    async let held = Self.lookup("host1", at: server).run(by: loop)
    await server.waitForHeld()
    try folder.write("# moved\nsearch other.test\n", to: "resolv.conf")
    #expect(await Self.lookup("host2", at: server).run(by: loop).failure == .nameNotFound)
    #expect(server.queries.contains { $0.name == "host2.other.test" })
    server.release()
    #expect(try await held.get().ttl == 60)
    await server.stop()
  }

  @Test func `the search list is for single labels alone`() async throws {
    let folder = try FileFolder()
    let server = try await FakeNameServer.start(records: Self.records)
    try folder.write("search shop.test\n", to: "resolv.conf")
    let loop = CaresLoop(resolvConf: folder / "resolv.conf")
    #expect(try await Self.lookup("host1", at: server).run(by: loop).get().ttl == 60)
    #expect(await Self.lookup("host1.other.test", at: server).run(by: loop).failure == .nameNotFound)
    #expect(!server.queries.contains { $0.name == "host1.other.test.shop.test" })
    await server.stop()
  }

  @Test(arguments: ["search .\n", "search . shop.test\n", "search shop.test .\n"])
  func `the root is no search domain, which systemd-resolved writes`(_ resolvConf: String) async throws {
    let folder = try FileFolder()
    let records = RecordTable { $0.add("printer", "192.0.2.8", ttl: 60) }
    let server = try await FakeNameServer.start(records: records)
    try folder.write(resolvConf, to: "resolv.conf")
    let loop = CaresLoop(resolvConf: folder / "resolv.conf")
    #expect(try await Self.lookup("printer", at: server).run(by: loop).get().ttl == 60)
    #expect(await Self.lookup("plotter", at: server).run(by: loop).failure == .nameNotFound)
    // Where it comes first, the name as it is does.
    let first = resolvConf.hasPrefix("search .") ? "printer" : "printer.shop.test"
    #expect(server.queries.first?.name == first)
    #expect(server.queries.contains { $0.name == "plotter.shop.test" } == resolvConf.contains("shop.test"))
    await server.stop()
  }

  @Test(arguments: [
    ("db", IPAddress.Family.ipv4, ["192.0.2.1"]), ("db", .ipv6, []), ("web", .ipv4, []),
    ("web", .ipv6, ["2001:db8::2"]),
    ("bare", .ipv4, ["192.0.2.5"]), ("bare", .ipv6, ["2001:db8::5"]), ("later", .ipv6, ["2001:db8::4"]),
  ])
  func `the first search domain that has the name has both of its families`(
    _ name: String, _ family: IPAddress.Family, _ addresses: [String]
  ) async throws {
    let folder = try FileFolder()
    let records = RecordTable { table in
      table.add("db.staging.test", "192.0.2.1", ttl: 60)
      table.add("db.prod.test", "192.0.2.9", "2001:db8::9", ttl: 60)
      table.add("web.staging.test", "2001:db8::2", ttl: 60)
      table.add("web.prod.test", "192.0.2.9", "2001:db8::9", ttl: 60)
      table.empty("later.staging.test")
      table.add("later.prod.test", "192.0.2.4", "2001:db8::4", ttl: 60)
      table.add("bare", "192.0.2.5", "2001:db8::5", ttl: 60)
    }
    let server = try await FakeNameServer.start(records: records)
    try folder.write("search staging.test prod.test\n", to: "resolv.conf")
    let loop = CaresLoop(resolvConf: folder / "resolv.conf")
    let lookup = CaresLookup(
      host: HostName(canonical: name), family: family, servers: server.serverAddress, timeout: 20_000)
    let outcome = await lookup.run(by: loop)
    #expect(((try? outcome.get())?.addresses ?? []).map(\.description) == addresses)
    #expect(outcome.failure == (addresses.isEmpty ? .noAddress : nil))
    await server.stop()
  }

  @Test(arguments: [DNSMessage.ResponseCode.serverFailure, .refused])
  func `a search domain whose servers fail is passed over`(_ code: DNSMessage.ResponseCode) async throws {
    let folder = try FileFolder()
    let records = RecordTable { table in
      for name in ["db.bad.test", "gone.bad.test"] { table.fail(name, code) }
      table.add("db.prod.test", "192.0.2.9", ttl: 60)
    }
    let server = try await FakeNameServer.start(records: records)
    try folder.write("search bad.test prod.test\n", to: "resolv.conf")
    let loop = CaresLoop(resolvConf: folder / "resolv.conf")
    #expect(try await Self.lookup("db", at: server).run(by: loop).get().addresses == Sample.addresses("192.0.2.9"))
    let failure = await Self.lookup("gone", at: server).run(by: loop).failure
    #expect(failure?.isOfServers == true, "\(String(describing: failure))")
    await server.stop()
  }

  @Test(arguments: ["search d1.test d2.test d3.test\n", "search .\n"])
  func `a family that the system's DNS never answers holds up nothing of the other`(_ resolvConf: String) async throws {
    let folder = try FileFolder()
    let records = RecordTable { table in
      for name in ["db", "db.d3.test"] { table.add(name, "192.0.2.7", ttl: 60) }
    }
    let server = try await FakeNameServer.start(records: records)
    server.misbehave(.drop, when: { $0.type == .aaaa })
    try folder.write(resolvConf, to: "resolv.conf")
    let loop = CaresLoop(resolvConf: folder / "resolv.conf")
    #expect(try await Self.lookup("db", at: server).run(by: loop).get().ttl == 60)
    #expect(server.queries.allSatisfy { $0.type == .a })
    #expect(server.queries.last?.name == (resolvConf.contains("d3") ? "db.d3.test" : "db"))
    await server.stop()
  }

  @Test func `a process ends while lookups are under way`() async {
    await #expect(processExitsWith: .success) {
      let server = try await FakeNameServer.start()
      server.misbehave(.drop)
      for number in 0..<20 {
        Task { await CaresLoopTests.lookup("host\(number).shop.test", at: server).run() }
      }
      await server.waitForQueries(20)
    }
  }

  @Test func `a resolver that is shut down answers who waits for the system's DNS`() async throws {
    let server = try await FakeNameServer.start()
    server.misbehave(.drop)
    let system = SystemDNS(servers: server.serverAddress)
    let resolver = try DirectResolver(ResolverConfiguration(), system: system)
    let asking = Task {
      try await resolver.resolveWithSystemDNS(HostName(canonical: "www.shop.test"), options: .init())
    }
    await server.waitForQueries(1)
    resolver.shutdown()
    let error = await #expect(throws: DirectDNSError.self) { try await asking.value }
    #expect(error?.code == .shutDown)
    await server.stop()
  }
}
