// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCares

/// One lookup by the system's DNS: c-ares reads the hosts file and asks the servers of resolv.conf.
struct CaresLookup: Sendable {
  /// What a lookup found.
  struct Found: Sendable, Hashable {
    var addresses: [IPAddress] = []
    /// The smallest TTL over the chain and the addresses, in seconds.
    var ttl: UInt32 = .max
    var canonicalName: String?
  }

  typealias Outcome = Result<Found, CaresError>

  /// c-ares's version.
  static var version: String { unsafe ares_version(nil).map { unsafe String(cString: $0) } ?? "" }

  var host: HostName
  var family: IPAddress.Family
  /// `ADDRESS:PORT,…` instead of the system's own servers.
  var servers: String?
  /// How many milliseconds the whole lookup may take.
  var timeout: Int64

  /// Asks, and waits for the answer; a caller that is cancelled stops waiting at once.
  nonisolated(nonsending) func run(by loop: CaresLoop = .shared) async -> Outcome {
    guard timeout > 0 else { return .failure(.timedOut) }
    guard !Task.isCancelled else { return .failure(.cancelled) }
    let query = CaresQuery(self, at: SystemClock().now)
    loop.start(query)
    return await withTaskCancellationHandler {
      await query.outcome.value()
    } onCancel: {
      loop.cancel(query)
    }
  }
}

/// A lookup under way, and the promise of its outcome.
final class CaresQuery: Sendable {
  let lookup: CaresLookup
  let deadline: ResolverInstant
  let outcome = Promise<CaresLookup.Outcome>()

  init(_ lookup: CaresLookup, at now: ResolverInstant) {
    self.lookup = lookup
    deadline = now + .milliseconds(lookup.timeout)
  }

  /// Whether the caller has its outcome.
  var isOver: Bool { outcome.isFulfilled }

  /// Resumes the caller; the first outcome is the one that it gets.
  func finish(_ outcome: CaresLookup.Outcome) { self.outcome.fulfil(outcome) }
}

extension CaresLookup.Found {
  /// - Parameters:
  ///   - found: what c-ares has found.
  ///   - family: the family whose addresses are taken.
  init(_ found: ares_addrinfo, _ family: IPAddress.Family) {
    var node = unsafe found.nodes
    while let current = unsafe node {
      if let address = unsafe IPAddress(current.pointee.ai_addr), address.family == family {
        addresses.keep(address)
        unsafe ttl = min(ttl, Self.lifetime(current.pointee.ai_ttl))
      }
      unsafe node = current.pointee.ai_next
    }
    var alias = unsafe found.cnames
    while let current = unsafe alias {
      unsafe ttl = min(ttl, Self.lifetime(current.pointee.ttl))
      unsafe canonicalName = current.pointee.name.map { unsafe String(cString: $0) }
      unsafe alias = current.pointee.next
    }
    if ttl == .max { ttl = 0 }
  }

  /// A TTL as c-ares hands it over, in a signed number; one with the high bit is a large one (RFC 8767 §4).
  static func lifetime(_ ttl: Int32) -> UInt32 { min(UInt32(bitPattern: ttl), .max - 1) }
}

extension IPAddress {
  fileprivate init?(_ socket: UnsafePointer<sockaddr>?) {
    guard let socket = unsafe socket else { return nil }
    switch unsafe Int32(socket.pointee.sa_family) {
    case AF_INET:
      self = unsafe socket.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        unsafe .ipv4(UInt32(bigEndian: $0.pointee.sin_addr.s_addr))
      }
    case AF_INET6:
      let bytes = unsafe socket.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
        unsafe withUnsafeBytes(of: $0.pointee.sin6_addr) { unsafe Array($0) }
      }
      self.init(bytes: bytes)
    default: return nil
    }
  }
}

/// Why c-ares has no answer; its codes are mapped here and nowhere else.
enum CaresError: Error, Hashable, Sendable, CustomStringConvertible {
  case nameNotFound
  case noAddress
  case timedOut
  case refused
  /// A name server says that it failed (SERVFAIL).
  case serverFailed
  /// All name servers have been asked in vain. c-ares 1.18 does not tell whether none was reached or each one said
  /// SERVFAIL, NOTIMP or REFUSED.
  case noServer
  /// The caller was cancelled.
  case cancelled
  case failed(String)

  init(_ status: Int32) {
    switch status {
    case directdns_ares_notfound: self = .nameNotFound
    case directdns_ares_nodata: self = .noAddress
    case directdns_ares_timeout: self = .timedOut
    case directdns_ares_refused: self = .refused
    case directdns_ares_servfail: self = .serverFailed
    case directdns_ares_connrefused: self = .noServer
    default: self = unsafe .failed(String(cString: ares_strerror(status)))
    }
  }

  /// Whether name servers failed the name, which those of another domain may not.
  var isOfServers: Bool { [.refused, .serverFailed, .noServer].contains(self) }

  /// What happened, in words.
  var description: String {
    switch self {
    case .nameNotFound: "name not found"
    case .noAddress: "no address"
    case .timedOut: "timed out"
    case .refused: "refused the query"
    case .serverFailed: "the name server failed (SERVFAIL)"
    case .noServer: "no name server was reached, or each one failed or refused (SERVFAIL, REFUSED or NOTIMP)"
    case .cancelled: "cancelled"
    case .failed(let reason): reason
    }
  }
}
