// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import DirectDNS
import NIOCore
import class NIOPosix.MultiThreadedEventLoopGroup

/// AsyncHTTPClient, connecting to the addresses that DirectDNS finds.
///
/// `dnsOverride` tells an `HTTPClient` where to connect for a host, while URL, `Host`, SNI and the certificate check
/// keep the name. It holds one target for a host, and is fixed when the client is made (one for each request has been
/// asked for: async-http-client issue 866). So there is a client for each origin, and another one as soon as the old
/// one's address is no longer among the answers, or could not be reached.
actor DirectHTTPClient {
  private let resolver: DirectResolver
  private let policy: AddressPolicy
  private let configuration: HTTPClient.Configuration
  private var clients: [Origin: PinnedClient] = [:]

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - resolver: finds the addresses, and remembers those that could not be reached.
  ///   - policy: which of them may be connected to; public ones only by default.
  ///   - configuration: everything else about the connections.
  init(resolver: DirectResolver, policy: AddressPolicy = .publicOnly, configuration: HTTPClient.Configuration = .init())
  {
    self.resolver = resolver
    self.policy = policy
    var configuration = configuration
    // A redirect's host has no override: the system's DNS would be asked, and nobody would judge where it leads. A
    // caller who follows redirects makes each hop a request of its own.
    configuration.redirectConfiguration = .disallow
    // The same address again and again for ten seconds is no better than another one at once.
    configuration.connectionPool.retryConnectionEstablishment = false
    self.configuration = configuration
  }

  /// Sends a request, and lends its response to `body`.
  ///
  /// - Throws: the address policy's error, before anything is sent, when no address of the host may be used.
  func execute<Result: Sendable>(
    _ request: HTTPClientRequest, timeout: TimeAmount = .seconds(30),
    _ body: @Sendable (HTTPClientResponse) async throws -> Result
  ) async throws -> Result {
    // One parser decides whom a URL names. `dnsOverride` knows a host in one spelling only, and any other would go to
    // the system's DNS.
    let url = try WebURL(request.url)
    var request = request
    request.url = url.href
    let addresses = try policy.allowed(try await resolver.resolve(url.host).addresses, for: url.host)
    let origin = Origin(url)
    let pinned = try client(for: origin, among: addresses)
    pinned.begin()
    defer { pinned.end() }
    do {
      return try await body(try await pinned.client.execute(request, timeout: timeout))
    } catch let error where error.isFailedConnection {
      // The next request gets another address, if there is one.
      resolver.report(pinned.address, .failed)
      if clients[origin] === pinned { clients[origin] = nil }
      pinned.retire()
      throw error
    }
  }

  /// Closes all connections; requests under way fail.
  func shutdown() async throws {
    let pinned = clients.values
    clients = [:]
    for pinned in pinned { try await pinned.client.shutdown() }
  }

  /// The client that the origin has, as long as its address is one of the answers, or a new one.
  private func client(for origin: Origin, among addresses: [IPAddress]) throws -> PinnedClient {
    if let known = clients[origin], addresses.contains(known.address) { return known }
    var configuration = configuration
    if case .name(let name) = origin.host {
      configuration.dnsOverride = [name: addresses[0].description]
      if origin.scheme.isSecure { ServerName(try HostName(origin.host)).require(of: &configuration) }
    }
    // SwiftNIO everywhere: on macOS the default is Network.framework, whose certificates cannot be looked at.
    let client = HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
    let pinned = PinnedClient(address: addresses[0], client: client)
    clients.updateValue(pinned, forKey: origin)?.retire()
    return pinned
  }
}

/// A client for one origin at one address, which ends with its last request once another one has taken its place.
private final class PinnedClient {
  let address: IPAddress
  let client: HTTPClient
  private var requests = 0
  private var isRetired = false

  init(address: IPAddress, client: HTTPClient) {
    self.address = address
    self.client = client
  }

  func begin() { requests += 1 }

  func end() {
    requests -= 1
    closeIfDone()
  }

  func retire() {
    isRetired = true
    closeIfDone()
  }

  private func closeIfDone() {
    if isRetired, requests == 0 { client.shutdown { _ in } }
  }
}

extension Error {
  /// Whether no connection came about, or it broke.
  fileprivate var isFailedConnection: Bool {
    self is IOError || (self as? HTTPClientError) == .connectTimeout
  }
}
