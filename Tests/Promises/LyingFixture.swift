// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSSQLite
import DirectDNSTesting
import HTTPTypes

/// Provider and origin at public addresses, and every way to lead a client elsewhere.
struct LyingFixture {
  /// Where the provider is, and where the origin may be met.
  static let provider = "9.9.9.10"
  static let allowed = "9.9.9.11"

  /// One address at least of each network that is nobody's business.
  static let forbidden = [
    "0.0.0.0", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.1.2.3", "169.254.169.254", "172.16.0.1", "172.31.255.254",
    "192.0.0.8", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1",
    "255.255.255.255", "168.63.129.16", "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1",
    "64:ff9b:1::a00:1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "2001:db8::1", "2002:7f00:1::1",
    "2001::1", "100::1",
  ]

  /// The same in spellings that a URL may have.
  static let literals = [
    "127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "0", "[::1]", "[::ffff:7f00:1]", "[::]",
    "[64:ff9b::a00:1]", "10.1", "169.254.169.254", "192.168.257", "localhost", "a.localhost", "%31%30.0.0.1",
    "127。0。0。1", "①②⑦.0.0.1",
  ]

  let folder: String
  let server: FakeProvider
  let origin: FakeOrigin

  init(folder: String) async throws {
    self.folder = folder
    server = try await .start(configuration: .init(address: try Self.address(Self.provider)))
    origin = try await .start(configuration: .init(address: .ipv4(0))) { request in
      guard let place = request.target.split(separator: "?", maxSplits: 1).last, request.path == "/to" else {
        return OriginResponse(body: "here")
      }
      return OriginResponse(.found, fields: [.location: "\(place)"])
    }
  }

  func stop() async {
    await server.stop()
    await origin.stop()
  }

  static func address(_ text: String) throws -> IPAddress {
    guard let address = IPAddress(text) else { throw DirectDNSError(.invalidName, "\(text) is not an address") }
    return address
  }

  // MARK: A client, and a lure

  /// A client of its own, by default with the default policy: public addresses alone.
  func client(
    _ clock: any ResolverClock = SystemClock(), policy: AddressPolicy = .publicOnly,
    change: (inout ResolverConfiguration) throws -> Void = { _ in }
  ) throws -> DirectClient {
    let url = "json+http://\(Self.provider):\(server.port)/resolve"
    var configuration = ResolverConfiguration(providers: [try ProviderConfiguration(url, plainHTTP: .anywhere)])
    configuration.usesSystemDNS = false
    try change(&configuration)
    var client = DirectClientConfiguration()
    client.policy = policy
    client.timeouts.connect = .seconds(1)
    return try DirectClient(client, resolver: DirectResolver(configuration, clock: clock))
  }

  func url(_ host: String, _ path: String = "/") -> String { "http://\(host):\(origin.port)\(path)" }

  /// Has the provider say something else of a name.
  func say(_ host: String, _ addresses: String..., ttl: UInt32 = 10) throws {
    server.records.remove(host)
    server.records.add(host, try addresses.map(Self.address), ttl: ttl)
  }

  /// Sends a request, and counts what came of it.
  func lure(_ client: DirectClient, _ url: String, _ tally: inout LureTally) async {
    tally.lures += 1
    do {
      let response = try await client.get(url)
      let address = response.connection.remoteAddress?.description
      _ = try await response.body.text()
      guard address == Self.allowed else { return tally.note("\(url) answered from \(address ?? "nowhere")") }
      tally.public += 1
    } catch {
      switch error.code {
      case .addressForbidden, .refused, .redirectRefused, .invalidURL: tally.refused += 1
      // An allowed address that does not answer: the lure stood beside it.
      case .connectFailed: tally.refused += 1
      default: tally.note("\(url): \(error.code): \(error.message)")
      }
    }
  }
}

extension LureTally {
  mutating func note(_ text: String) {
    wrong += 1
    firstWrong = firstWrong ?? text
  }
}
