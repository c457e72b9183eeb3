import ArgumentParser
import DirectDNS
import Dispatch
import HTTPTypes
import Synchronization

/// Cached lookups of names in random order.
struct CachedBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "cached")

  enum Keys: String, ExpressibleByArgument { case hostname, string }

  @Option var threads = 1
  @Option var keys = Keys.hostname
  @Option var names = 100_000
  @Option var lookups = 5_000_000

  func run() async throws {
    var configuration = ResolverConfiguration(providers: [
      try ProviderConfiguration("doh+http://127.0.0.1:9/dns-query")
    ])
    configuration.capacity = names
    configuration.families = .ipv4
    configuration.hedges = false
    let resolver = try Resolver(configuration, transport: Instant())
    var random = Xorshift()
    let hosts = try (0..<names).map { try HostName("host-" + padded($0) + ".lab.test") }
    for host in hosts { _ = try await resolver.resolve(host) }
    // Made anew in the order of their use, as the floor's keys are.
    let texts = (0..<names).map { _ in
      String(decoding: Array(hosts[Int(random.next() % UInt64(names))].text.utf8), as: UTF8.self)
    }
    let order = try (0..<names).map { try HostName(String(decoding: Array(texts[$0].utf8), as: UTF8.self)) }
    // As the floor does: a power of two of them, in a row.
    let mask = (1 << (Int.bitWidth - 1 - names.leadingZeroBitCount)) - 1

    var times: [Double] = []
    for _ in 0..<5 {
      let start = DispatchTime.now().uptimeNanoseconds
      DispatchQueue.concurrentPerform(iterations: threads) { thread in
        var sum = 0
        var index = thread * 7919
        // Through pointers, so that the loop borrows its keys as a caller's own variable would be: a reference count
        // per key would be the bench's cost.
        switch keys {
        case .hostname:
          order.withUnsafeBufferPointer { order in
            for _ in 0..<lookups {
              sum &+= resolver.cached(order[index & mask])?.addresses.count ?? 0
              index += 1
            }
          }
        case .string:
          texts.withUnsafeBufferPointer { texts in
            for _ in 0..<lookups {
              sum &+= resolver.cached(texts[index & mask])?.addresses.count ?? 0
              index += 1
            }
          }
        }
        precondition(sum == lookups, "a cached name was missing")
      }
      times.append(Double(DispatchTime.now().uptimeNanoseconds - start) / Double(lookups))
    }
    times.sort()
    let statistics = resolver.cacheStatistics
    print(
      "ns_per_op=\(times[2]) min=\(times[0]) max=\(times[4]) bytes_per_entry=\(Double(statistics.bytes) / Double(statistics.names))"
    )
  }

  private func padded(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 6 - digits.utf8.count)) + digits
  }
}

/// A transport that answers every question at once.
struct Instant: HTTPTransport {
  func send(
    _ message: HTTPMessage, to endpoint: HTTPEndpoint, timeout: Duration
  ) async throws(HTTPTransportError) -> HTTPReply {
    let query = message.url.split(separator: "dns=").last.map(String.init) ?? ""
    guard var reply = try? DNSMessage(decoding: decoded(query)), let question = reply.questions.first else {
      throw .invalidRequest("no question")
    }
    reply.isResponse = true
    reply.answers = [DNSRecord(owner: question.name, type: .a, ttl: 3600, data: .address(.ipv4(0x7f00_0001)))]
    return HTTPReply(status: .ok, fields: [.contentType: "application/dns-message"], body: reply.encoded())
  }

  func networkDidChange() {}
  func shutDown() {}

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
