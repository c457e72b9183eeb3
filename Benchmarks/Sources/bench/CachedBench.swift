// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DirectDNS
import Dispatch
import HTTPTypes
import Synchronization

/// Cached lookups of names in random order, one after the other or each depending on the one before.
struct CachedBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "cached")

  enum Keys: String, ExpressibleByArgument { case hostname, string }

  @Option var threads = 1
  @Option var keys = Keys.hostname
  @Option var names = 100_000
  @Option var lookups = 5_000_000
  @Option(help: "A name's addresses of each family; 0 stands for a single IPv4 address.") var perFamily = 0
  @Option(help: "Connections to report before anything is measured.") var reports = 0
  @Flag(help: "Draw each name, a HostName, from what the last lookup found, so that no two of them overlap.")
  var chained = false

  func run() async throws {
    var configuration = ResolverConfiguration(providers: [
      try ProviderConfiguration("doh+http://127.0.0.1:9/dns-query")
    ])
    configuration.capacity = names
    configuration.families = perFamily == 0 ? .ipv4 : .any
    configuration.hedges = false
    let resolver = try DirectResolver(configuration, transport: Instant(perFamily: perFamily))
    let expected = max(1, perFamily * 2)
    var random = Xorshift()
    let hosts = try (0..<names).map { try HostName("host-" + padded($0) + ".lab.test") }
    for host in hosts {
      // A family that comes 50 ms after the other one joins the answer later.
      var found = try await resolver.resolve(host)
      while found.addresses.count < expected {
        try await Task.sleep(for: .milliseconds(1))
        found = try await resolver.resolve(host)
      }
    }
    for number in 0..<reports {
      // Every address of a name in turn: fast, failed, slow, or lost against another.
      let host = hosts[Int(UInt64(number / expected) &* 7919 % UInt64(names))]
      guard let answer = resolver.cached(host) else { throw ValidationError("a cached name was missing") }
      let outcomes: [ConnectionOutcome] = [
        .connected(in: .milliseconds(10 + number % 20)), .failed, .connected(in: .milliseconds(90)),
        .slower(than: .milliseconds(250)),
      ]
      resolver.report(outcomes[(number + number / expected) % outcomes.count], for: answer.addresses[number % expected])
    }
    // Made anew in the order of their use, as the floor's keys are, and only those that are used: others between them
    // would be the bench's cost. Only read from here on, by several threads.
    nonisolated(unsafe) let order = UnsafeMutablePointer<Key>.allocate(capacity: keys == .hostname ? names : 0)
    nonisolated(unsafe) let spellings = UnsafeMutablePointer<Spelling>.allocate(capacity: keys == .string ? names : 0)
    for index in 0..<names {
      let bytes = Array(hosts[Int(random.next() % UInt64(names))].text.utf8)
      switch keys {
      case .hostname:
        (order + index).initialize(to: Key(name: try HostName(String(decoding: bytes, as: UTF8.self))))
      case .string: (spellings + index).initialize(to: Spelling(text: String(decoding: bytes, as: UTF8.self)))
      }
    }
    let (lookups, keys, chained, count) = (lookups, keys, chained, UInt64(names))
    let mask = (1 << (Int.bitWidth - 1 - names.leadingZeroBitCount)) - 1

    var times: [Double] = []
    for _ in 0..<5 {
      let start = DispatchTime.now().uptimeNanoseconds
      DispatchQueue.concurrentPerform(iterations: threads) { thread in
        var sum = 0
        // Each key is borrowed, as a caller's own variable would be: a reference count per key would be the bench's cost, and
        // memory that two threads write to.
        if chained {
          // Each key is only known when the one before has been looked up, by the floor's arithmetic.
          var state = UInt64(thread) &* 7919
          for _ in 0..<lookups {
            let found = order[Int(((state >> 32) &* count) >> 32)].resolution(in: resolver)
            sum &+= found?.addresses.count ?? 0
            state =
              state &* 6_364_136_223_846_793_005 &+ 0x7F4A_7C15 &+ (found?.addresses[0].isLoopback ?? false ? 1 : 0)
          }
        } else {
          // As the floor does: a power of two of them in a row, so that the processor begins with the next ones while it
          // waits for the memory of one.
          var index = thread * 7919
          switch keys {
          case .hostname:
            for _ in 0..<lookups {
              sum &+= order[index & mask].resolution(in: resolver)?.addresses.count ?? 0
              index += 1
            }
          case .string:
            for _ in 0..<lookups {
              sum &+= spellings[index & mask].resolution(in: resolver)?.addresses.count ?? 0
              index += 1
            }
          }
        }
        precondition(sum == lookups * expected, "a cached name was missing")
      }
      times.append(Double(DispatchTime.now().uptimeNanoseconds - start) / Double(lookups))
    }
    times.sort()
    let statistics = resolver.cacheStatistics
    print(
      "ns_per_op=\(times[2]) min=\(times[0]) max=\(times[4]) bytes_per_entry=\(Double(statistics.bytes) / Double(statistics.names))"
    )
  }

  /// A name to look up, which cannot be copied: it is borrowed where it lies.
  private struct Key: ~Copyable {
    let name: HostName

    @inline(never)
    borrowing func resolution(in resolver: DirectResolver) -> Resolution? { resolver.cached(name) }
  }

  /// The same as people write it.
  private struct Spelling: ~Copyable {
    let text: String

    @inline(never)
    borrowing func resolution(in resolver: DirectResolver) -> Resolution? { resolver.cached(text) }
  }

  private func padded(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 6 - digits.utf8.count)) + digits
  }
}

/// A transport that answers every question at once, with addresses of loopback that only that name has.
struct Instant: HTTPTransport {
  var perFamily = 0

  func send(
    _ message: HTTPMessage, to endpoint: HTTPEndpoint, timeout: Duration
  ) async throws(HTTPTransportError) -> HTTPReply {
    let query = message.url.split(separator: "dns=").last.map(String.init) ?? ""
    guard var reply = try? DNSMessage(decoding: decoded(query)), let question = reply.questions.first else {
      throw .invalidRequest("no question")
    }
    reply.isResponse = true
    let number = "\(question.name)".utf8.reduce(UInt32(0)) { 48...57 ~= $1 ? $0 * 10 + UInt32($1 - 48) : $0 }
    let is4 = question.type == .a
    reply.answers = (0..<UInt32(is4 ? max(1, perFamily) : perFamily)).map { place in
      let address = 0x7f00_0000 | number << 3 | place
      return DNSRecord(
        owner: question.name, type: question.type, ttl: 3600,
        data: .address(is4 ? .ipv4(address) : .ipv6(high: 0, low: 0xffff_0000_0000 | UInt64(address))))
    }
    return HTTPReply(status: .ok, fields: [.contentType: "application/dns-message"], body: reply.encoded())
  }

  func networkDidChange() {}
  func shutdown() {}

  private func decoded(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    for character in text.utf8 {
      let value: UInt8 =
        switch character {
        case 65...90: character - 65
        case 97...122: character - 71
        case 48...57: character + 4
        case 45: 62
        default: 63
        }
      bits = bits << 6 | UInt32(value)
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    return bytes
  }
}

struct Xorshift {
  private var state: UInt64 = 88_172_645_463_325_252

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}
