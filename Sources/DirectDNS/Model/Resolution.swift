// SPDX-License-Identifier: Apache-2.0
/// An answer as callers get it: the addresses to use, and how far they can be relied on.
public struct Resolution: Sendable, Hashable {
  /// How an answer's age compares with its lifetime.
  public enum Freshness: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Within its lifetime.
    case fresh
    /// Within its lifetime, and being refreshed.
    case due
    /// Expired a moment ago, and being refreshed.
    case grace
    /// Expired, and returned because no fresh answer came in time (RFC 8767).
    case stale

    private var rank: Int {
      switch self {
      case .fresh: 0
      case .due: 1
      case .grace: 2
      case .stale: 3
      }
    }

    /// The fresher one is the smaller one.
    public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
  }

  /// Where an answer came from.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Source: Sendable, Hashable {
    /// A provider, by its name.
    case provider(String)
    /// The system's DNS.
    case system
    /// The name was an address.
    case literal
    /// The caller's own table.
    case pin
    /// A name that never leaves this machine, such as `localhost`.
    case local
    /// A store outside the process.
    case store

    /// The kind of source, as in `dnsctl`'s JSON.
    public var kind: String {
      switch self {
      case .provider: "provider"
      case .system: "system"
      case .literal: "literal"
      case .pin: "pin"
      case .local: "local"
      case .store: "store"
      }
    }

    /// The provider's name, if a provider answered.
    public var provider: String? {
      if case .provider(let name) = self { name } else { nil }
    }
  }

  /// The addresses in the order of use.
  ///
  /// Never empty.
  public var addresses = AddressList()
  /// How the answer's age compares with its lifetime; with two families, that of the older one.
  public var freshness = Freshness.fresh
  // Only the text: with the name's hash, a resolution would take more than the 128 bytes that are copied in place.
  var canonicalText: String?
  /// Where the answer came from.
  public var source = Source.system

  var ageNanoseconds: Int64 = 0
  var timeToLiveNanoseconds: Int64 = 0

  /// The end of the CNAME chain, if the name is an alias.
  public var canonicalName: HostName? {
    get { canonicalText.map { HostName(canonical: $0) } }
    set { canonicalText = newValue?.text }
  }

  /// How long the users of a stale answer may keep it: 30 s (RFC 8767 §4).
  public static let staleTimeToLive = Duration.seconds(30)

  /// The time since the answer was asked for.
  public var age: Duration { .nanoseconds(ageNanoseconds) }

  /// For how long the answer may be used from now on: the rest of its lifetime, or 30 s for an expired one; nil for one
  /// that does not expire, such as an address literal or a pin.
  public var timeToLive: Duration? {
    if timeToLiveNanoseconds == .max { return nil }
    return freshness <= .due ? .nanoseconds(max(0, timeToLiveNanoseconds)) : Self.staleTimeToLive
  }

  /// How long ago the answer expired; nil while it is within its lifetime.
  public var expiredFor: Duration? {
    freshness <= .due ? nil : max(Duration.zero, .zero - .nanoseconds(timeToLiveNanoseconds))
  }

  /// Creates a resolution without addresses, to be filled in place.
  @inline(__always)
  init() {}

  /// Creates a resolution; a time to live of `.max` never ends.
  init(
    addresses: AddressList, canonicalName: HostName?, freshness: Freshness, source: Source, ageNanoseconds: Int64,
    timeToLiveNanoseconds: Int64
  ) {
    self.addresses = addresses
    self.freshness = freshness
    canonicalText = canonicalName?.text
    self.source = source
    self.ageNanoseconds = ageNanoseconds
    self.timeToLiveNanoseconds = timeToLiveNanoseconds
  }

  /// Adds the other family's answer, as the addresses that come first or as those that come last.
  mutating func add(_ other: Resolution, isFirst: Bool) {
    var (first, last) = isFirst ? (other, self) : (self, other)
    for address in last.addresses { first.addresses.append(address) }
    first.freshness = max(freshness, other.freshness)
    first.canonicalText = first.canonicalText ?? last.canonicalText
    first.ageNanoseconds = max(ageNanoseconds, other.ageNanoseconds)
    first.timeToLiveNanoseconds = min(timeToLiveNanoseconds, other.timeToLiveNanoseconds)
    self = first
  }

  /// Creates a resolution that no resolver has made: for a test, or to connect by addresses from elsewhere.
  ///
  /// - Parameters:
  ///   - addresses: the addresses in the order of use, one at least.
  ///   - canonicalName: the end of the CNAME chain; default nil.
  ///   - freshness: how the answer's age compares with its lifetime; default fresh.
  ///   - source: where it came from.
  ///   - age: the time since it was asked for; default no time.
  ///   - timeLeft: what is left of its lifetime, negative once it has expired; nil, the default, for one that does not
  ///     expire.
  public init(
    addresses: AddressList, canonicalName: HostName? = nil, freshness: Freshness = .fresh, source: Source,
    age: Duration = .zero, timeLeft: Duration? = nil
  ) {
    self.init(
      addresses: addresses, canonicalName: canonicalName, freshness: freshness, source: source,
      ageNanoseconds: age.wholeNanoseconds, timeToLiveNanoseconds: timeLeft?.wholeNanoseconds ?? .max)
  }
}

extension Resolution: CustomStringConvertible {
  /// `192.0.2.1, 2001:db8::1 (alidns, fresh)`.
  public var description: String {
    let texts = addresses.map(\.description).joined(separator: ", ")
    return "\(texts) (\(source.provider?.printable ?? source.kind), \(freshness.rawValue))"
  }
}
