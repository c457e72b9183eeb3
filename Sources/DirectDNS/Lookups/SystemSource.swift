// SPDX-License-Identifier: Apache-2.0
/// The system's DNS, which a resolver falls back on.
///
/// Its function is called from any thread, several times at once, and ends when its time is over or its task is
/// cancelled. What it answers lives for 60 s at most.
public protocol SystemSource: Sendable {
  /// Looks up a name.
  ///
  /// - Parameters:
  ///   - host: the name.
  ///   - family: the family of addresses to ask for.
  ///   - timeout: how long it may take.
  /// - Returns: addresses, or a negative answer.
  /// - Throws: why there is no answer.
  func answer(
    to host: HostName, family: IPAddress.Family, timeout: Duration
  ) async throws(ProviderFailure) -> Answer
}

/// The system's DNS by c-ares, which reads the hosts file and asks the servers of resolv.conf.
///
/// Of nsswitch.conf it takes no more than which of the two comes first, so that there is no mDNS.
public struct SystemDNS: SystemSource, NonBlocking, Hashable {
  /// `ADDRESS:PORT,…`, with an IPv6 address in brackets, instead of the servers of resolv.conf; nil for those.
  public let servers: String?

  /// Creates a source.
  public init(servers: String? = nil) { self.servers = servers }

  /// Looks up a name, on a thread that all lookups share and that exists only while there are some.
  public func answer(
    to host: HostName, family: IPAddress.Family, timeout: Duration
  ) async throws(ProviderFailure) -> Answer {
    let lookup = CaresLookup(host: host, family: family, servers: servers, timeout: timeout.wholeMilliseconds)
    switch await lookup.run() {
    case .success(let found):
      guard !found.addresses.isEmpty else { return Answer(.negative(.noAddress), ttl: nil) }
      let alias = found.canonicalName.flatMap { try? HostName($0) }
      return Answer(.addresses(found.addresses), ttl: found.ttl, canonicalName: alias == host ? nil : alias)
    case .failure(.nameNotFound): return Answer(.negative(.nameNotFound), ttl: nil)
    case .failure(.noAddress): return Answer(.negative(.noAddress), ttl: nil)
    case .failure(.cancelled): throw ProviderFailure(.cancelled, "cancelled")
    case .failure(let error): throw ProviderFailure(.transport, error.description)
    }
  }
}
