// SPDX-License-Identifier: Apache-2.0
/// What a warm-up reports while it runs.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum WarmupEvent: Sendable {
  /// A name is done.
  case name(WarmupOutcome)
  /// An entry of the list is not a name that can be looked up.
  case rejected(WarmupRejection)
}

/// The result for one name.
public struct WarmupOutcome: Sendable {
  /// The kinds of outcome; every name has exactly one.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
    /// It was asked for, and answered by a provider or the system's DNS.
    case resolved
    /// The store had it.
    case fromStore
    /// The cache had it, or it needs no query.
    case fromCache
    /// It does not exist, or has no address of the families.
    case negative
    /// It could not be looked up.
    case failed
    /// The warm-up ended before it was done.
    case unfinished
  }

  /// The name.
  public var host: HostName
  /// The kind of outcome.
  public var kind: Kind
  /// The answer, or why there is none.
  public var result: Result<Resolution, DirectDNSError>
  /// How often it was looked up.
  public var tries: Int
  /// How long the last lookup took, including the wait for a provider's rate limit.
  public var duration: Duration

  /// Whether it is an answer that has expired, because no server could give a fresh one.
  public var isExpired: Bool {
    if case .success(let resolution) = result { resolution.expiredFor != nil } else { false }
  }

  /// Whether there is an answer, and not from the system's DNS.
  var isOfProvider: Bool {
    if case .success(let resolution) = result { resolution.source != .system } else { false }
  }

  /// Creates an outcome from its parts, for tests.
  public init(
    host: HostName, kind: Kind, result: Result<Resolution, DirectDNSError>, tries: Int = 1, duration: Duration = .zero
  ) {
    self.host = host
    self.kind = kind
    self.result = result
    self.tries = tries
    self.duration = duration
  }

  init(host: HostName, result: Result<DirectResolver.Renewal, DirectDNSError>, tries: Int, duration: Duration) {
    let kind: Kind =
      switch result {
      case .success(let renewal) where renewal.wasAsked && renewal.resolution.source == .store: .fromStore
      case .success(let renewal) where renewal.wasAsked && renewal.resolution.freshness == .fresh: .resolved
      case .success: .fromCache
      case .failure(let error):
        switch error.code {
        case .nameNotFound, .noAddress: .negative
        case .cancelled, .shutDown: .unfinished
        default: .failed
        }
      }
    self.init(host: host, kind: kind, result: result.map(\.resolution), tries: tries, duration: duration)
  }
}

/// An entry that is not a name that can be looked up.
public struct WarmupRejection: Sendable, Hashable, Codable, CustomStringConvertible {
  /// Where it is; nil for an entry of ``WarmupSource/names(_:)``.
  public var place: WarmupPlace?
  /// The entry, with invisible characters escaped, and shortened if it is long.
  public var text: String
  /// What is wrong with it.
  public var reason: String

  /// Creates one from its parts, for a test; by default of a list, which has no places.
  public init(place: WarmupPlace? = nil, text: String, reason: String) {
    self.place = place
    self.text = text
    self.reason = reason
  }

  /// `FILE:LINE: REASON`.
  public var description: String { "\(place.map { "\($0): " } ?? "")\(reason)" }

  /// Reads an entry.
  ///
  /// - Returns: the name, or why there is none; for an address, that it needs no lookup.
  static func name(of entry: WarmupSource.Entry) -> Result<HostName, WarmupRejection> {
    switch entry.content {
    case .unreadable(let reason): return .failure(WarmupRejection(place: entry.place, text: "", reason: reason))
    case .host(let text):
      do throws(DirectDNSError) {
        return .success(try HostName(text))
      } catch {
        // People write an IPv6 address without the brackets that it has in a URL.
        let reason =
          IPAddress(text).map { "\($0) is an address: it is used as it is and never looked up" } ?? error.clause
        let shown = DirectDNSError.quoted(text)
        let isNamed = reason.contains(shown) || reason.contains(text)
        return .failure(
          WarmupRejection(
            place: entry.place, text: String(shown.dropFirst().dropLast()),
            reason: isNamed ? reason : "\(shown): \(reason)"))
      }
    }
  }
}

extension WarmupRejection: Error {}
