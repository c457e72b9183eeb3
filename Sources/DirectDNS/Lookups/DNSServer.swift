// SPDX-License-Identifier: Apache-2.0
/// One server as it is configured; it never changes, and all its queries share it.
final class DNSServer: Sendable {
  /// The same for as long as the server is configured, and never given to another server.
  let number: Number<DNSServer>
  let configuration: ProviderConfiguration
  /// Where it is reached; nil if its own address has to be looked up first.
  let target: HTTPEndpoint?
  /// The provider's name.
  let name: String
  /// How many names its format takes in one query; nil if that is not said, and it takes one.
  ///
  /// Kept, since a warm-up asks for it with each name, and a cast to a protocol costs more than a thousand instructions.
  let batchLimit: Int?

  init(_ number: Number<DNSServer>, _ configuration: ProviderConfiguration) {
    self.number = number
    self.configuration = configuration
    target = HTTPEndpoint(reachedWithoutDNS: configuration)
    name = configuration.provider.name
    batchLimit = (configuration.provider as? any BatchProvider)?.batchLimit
  }
}

extension HTTPEndpoint {
  /// The server of a provider that can be reached without DNS; nil for any other provider.
  init?(reachedWithoutDNS provider: ProviderConfiguration) {
    let url = provider.provider.url
    guard provider.bootstrap.isEmpty, case .name = url.host else {
      self.init(url: url, addresses: provider.bootstrap)
      return
    }
    // Plain http is allowed to localhost because it is this machine, so no DNS may say otherwise (RFC 6761 §6.3).
    guard let host = try? HostName(url.host), LocalZones().route(for: host) == .loopback else { return nil }
    self.init(url: url, addresses: [.loopback(.ipv4), .loopback(.ipv6)])
  }
}

/// One server and its state, which is health, counts and request rate: a value.
struct DNSServerState: Sendable {
  private(set) var server: DNSServer
  var health = ServerHealth()
  /// How its queries ended so far.
  var tally = QueryTally()
  var bucket: TokenBucket?
  /// Whether it has shown that it takes only one name at a time, although its format allows for several.
  var refusesBatches = false

  init(_ number: Number<DNSServer>, _ configuration: ProviderConfiguration, at now: ResolverInstant) {
    server = DNSServer(number, configuration)
    bucket = configuration.rateLimit.map { TokenBucket($0, now: now) }
  }

  var number: Number<DNSServer> { server.number }
  var configuration: ProviderConfiguration { server.configuration }

  /// Whether a provider of another configuration is this server: it is if name and origin are the same, whatever its
  /// path and its credentials.
  func isServer(of other: ProviderConfiguration) -> Bool {
    let (mine, theirs) = (configuration.provider, other.provider)
    return mine.name == theirs.name && Origin(mine.url) == Origin(theirs.url)
  }

  mutating func update(_ configuration: ProviderConfiguration, at now: ResolverInstant) {
    server = DNSServer(number, configuration)
    refusesBatches = false
    guard let limit = configuration.rateLimit else {
      bucket = nil
      return
    }
    if bucket == nil { bucket = TokenBucket(limit, now: now) } else { bucket?.change(to: limit, at: now) }
  }

  func isOpen(at now: ResolverInstant) -> Bool {
    if case .open = health.breaker(at: now) { true } else { false }
  }

  /// The reason for not asking it in time, as an error names it.
  func tooLate(at now: ResolverInstant) -> DirectDNSError.Attempt {
    guard let end = health.pause?.end, end > now else {
      return .init(server: server.name, reason: "its request rate is used up", kind: .rate)
    }
    let seconds = (end - now + .nanoseconds(999_999_999)).components.seconds
    return .init(server: server.name, reason: "it wants no request for \(seconds) s more (429)", kind: .rate)
  }

  func isBlocked(at now: ResolverInstant) -> Bool { health.pause?.heldUntil(at: now) != nil }

  mutating func take(at now: ResolverInstant) -> Bool {
    guard !isBlocked(at: now) else { return false }
    return bucket?.take(at: now) ?? true
  }

  /// Reserves the next request that the rate allows.
  ///
  /// - Returns: when it may be sent; nil while the server must not be asked (429).
  mutating func reserve(at now: ResolverInstant) -> ResolverInstant? {
    guard !isBlocked(at: now) else { return nil }
    return bucket?.reserve(at: now)
  }

  func ready(at now: ResolverInstant) -> ResolverInstant {
    max(health.pause?.heldUntil(at: now) ?? now, bucket?.ready(at: now) ?? now)
  }
}
