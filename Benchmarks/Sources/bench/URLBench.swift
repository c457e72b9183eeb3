// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DirectDNS
import Dispatch
import FoundationEssentials

/// What happens to a URL and an address between a caller and the network, one operation after the other.
struct URLBench: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "url")

  enum Operation: String, ExpressibleByArgument {
    case parse, rewrite, restore, policy
    case cookieHeader = "cookie-header"
  }

  enum Library: String, ExpressibleByArgument { case directdns, foundation }

  @Option(help: "What is done.") var what = Operation.parse
  @Option(help: "Who does it; Foundation only parses, rewrites and restores.") var by = Library.directdns
  @Option(help: "How often in a pass.") var repetitions = 200_000

  func run() throws {
    let result =
      switch (what, by) {
      case (.parse, .directdns): try parse()
      case (.rewrite, .directdns): try rewrite()
      case (.restore, .directdns): try restore()
      case (.policy, .directdns): try policy()
      case (.cookieHeader, .directdns): try cookieHeader()
      case (.parse, .foundation): try parseByFoundation()
      case (.rewrite, .foundation): try rewriteByFoundation()
      case (.restore, .foundation): try restoreByFoundation()
      case (_, .foundation):
        throw ValidationError("Foundation has nothing of the kind")
      }
    print("ns_per_op=\(result)")
  }

  private static let host = "www.example.com"
  private static let address = IPAddress.ipv4(0xCB00_7105)
  private static let mask = 63

  /// The floor's URLs: with the name of 55 bytes each, and not all the same.
  private static func urls(host: String = host) -> [String] {
    (0...mask).map { "https://\(host)/api/v1/items?id=\($0 / 10)\($0 % 10)&lang=en&page" }
  }

  private func parse() throws -> Double {
    try median(of: Self.urls()) { Int(try WebURL($0).effectivePort) }
  }

  /// From text to text: read, and written with the address and without what no request line holds.
  private func rewrite() throws -> Double {
    let address = WebURL.Host.address(Self.address)
    return try median(of: Self.urls()) {
      try WebURL($0).text(host: address, userInfo: false, fragment: false).utf8.count
    }
  }

  /// The value of a `Location` that names the address.
  private func restore() throws -> Double {
    let restorer = ResponseRestorer(
      originalURL: try WebURL("https://\(Self.host)/api/v1/items"), addresses: [Self.address])
    return try median(of: Self.urls(host: "\(Self.address)")) { restorer.location($0).utf8.count }
  }

  /// Public addresses, which no row of the policy's table stands for a shorter way.
  private func policy() throws -> Double {
    let addresses = (0...UInt64(Self.mask)).map { index in
      index % 4 == 3
        ? IPAddress.ipv6(high: 0x2606_4700_0000_0000 | index << 16, low: 0x1111)
        : .ipv4(0x0808_0004 | UInt32(index) << 8)
    }
    let policy = AddressPolicy.publicOnly
    return try median(of: addresses) { policy.objection(to: $0) == nil ? 1 : 0 }
  }

  /// The field of three cookies, from a jar with 3 000 for 1 000 hosts.
  private func cookieHeader() throws -> Double {
    let urls = try (0..<1000).map {
      try WebURL("https://host-\($0 < 10 ? "00" : $0 < 100 ? "0" : "")\($0).example/a/b")
    }
    let jar = CookieJar()
    for (index, url) in urls.enumerated() {
      for name in ["session", "theme", "id"] {
        _ = jar.store(setCookie: "\(name)=0123456789abcdef\(1000 + index); path=/; max-age=86400; secure", for: url)
      }
    }
    return try median(of: (0...Self.mask).map { urls[$0 * 15] }) { jar.cookieHeader(for: $0)?.utf8.count ?? 0 }
  }

  private func parseByFoundation() throws -> Double {
    try median(of: Self.urls()) { URLComponents(string: $0) == nil ? 0 : 1 }
  }

  private func rewriteByFoundation() throws -> Double {
    let address = "\(Self.address)"
    return try median(of: Self.urls()) { url in
      guard var components = URLComponents(string: url) else { return 0 }
      components.host = address
      return components.string?.utf8.count ?? 0
    }
  }

  private func restoreByFoundation() throws -> Double {
    let address = "\(Self.address)"
    return try median(of: Self.urls(host: address)) { url in
      guard var components = URLComponents(string: url), components.host == address else { return 0 }
      components.host = Self.host
      return components.string?.utf8.count ?? 0
    }
  }

  /// The time of one operation in nanoseconds: the median of nine passes over all of the cases in turn.
  ///
  /// Each operation must give more than 0, so that nothing fails unseen.
  @inline(__always)
  private func median<Case>(of cases: [Case], _ operation: (Case) throws -> Int) throws -> Double {
    var passes: [Double] = []
    for _ in 0..<9 {
      var sum = 0
      let start = DispatchTime.now().uptimeNanoseconds
      // Through pointers, so that the loop borrows its cases as a caller's own variable would be.
      try cases.withUnsafeBufferPointer { cases in
        for index in 0..<repetitions { sum &+= try operation(cases[index & Self.mask]) }
      }
      passes.append(Double(DispatchTime.now().uptimeNanoseconds - start) / Double(repetitions))
      guard sum >= repetitions else { throw ValidationError("an operation failed") }
    }
    return passes.sorted()[4]
  }
}
