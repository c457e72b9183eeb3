// SPDX-License-Identifier: Apache-2.0
/// What a warm-up looks up, how fast, and when it has succeeded.
///
/// Every property but the names has a default.
public struct WarmupPlan: Sendable {
  /// What becomes of a warm-up that did not reach its minimum.
  public enum Shortfall: Sendable, Hashable {
    /// It is ready all the same, and its report says `missed`: lookups will try again, and the system's DNS may help.
    case accepted
    /// Whoever waits for it gets an error of code ``DirectDNSError/Code/warmupMissed``, and its service ends with it.
    case thrown
  }

  /// The names that are refreshed ahead of their end afterwards.
  public enum KeepAlive: Sendable, Hashable {
    /// None but those of the resolver's configuration.
    case none
    /// All names of the plan that are not known to have no address.
    case all
    /// These, whether or not they are names of the plan.
    case names(Set<HostName>)
  }

  /// Where the names come from; a name that several have counts once.
  public var sources: [WarmupSource]
  /// The families to ask for.
  ///
  /// Default nothing: as the resolver's configuration says.
  public var families: AddressFamilies?
  /// The most names under way at a time.
  ///
  /// Default 64. Where every provider has a request rate, no more than get their turn within a second.
  public var concurrency: Int
  /// The most names that begin in a second.
  ///
  /// Default nothing: as fast as the providers' own rates let it.
  public var rate: Double?
  /// How long it may take; what is not done by then is left alone.
  ///
  /// Default 60 s, so that a dead network holds up no start for longer; nil means no limit.
  public var timeout: Duration?
  /// How many names must have an address, be it an expired one.
  ///
  /// Default all of them.
  public var minimum: WarmupMinimum
  /// What becomes of it if they are fewer.
  ///
  /// Default ``Shortfall/accepted``.
  public var shortfall: Shortfall
  /// Which names are tried again.
  public var retry: WarmupRetry
  /// Which names are kept alive afterwards.
  ///
  /// Default none.
  public var keepAlive: KeepAlive

  /// Creates a plan for the names of those sources.
  public init(_ sources: [WarmupSource]) {
    self.sources = sources
    families = nil
    concurrency = 64
    rate = nil
    timeout = .seconds(60)
    minimum = .all
    shortfall = .accepted
    retry = WarmupRetry()
    keepAlive = .none
  }

  /// Creates a plan for a list of names.
  public init(names: [String]) { self.init([.names(names)]) }

  /// Creates a plan for the names of a file.
  public init(file: String) { self.init([.file(file)]) }

  /// Checks the values.
  func validate() throws(DirectDNSError) {
    guard concurrency > 0 else {
      throw DirectDNSError(.invalidConfiguration, "concurrency is \(concurrency): one name at a time is the least.")
    }
    if let rate, !(rate > 0 && rate.isFinite) {
      throw DirectDNSError(.invalidConfiguration, "rate is \(rate): give more than 0 names a second, or nothing.")
    }
    if let timeout, timeout <= .zero {
      throw DirectDNSError(.invalidConfiguration, "timeout is \(timeout): give the warm-up some time, or nothing.")
    }
    if let families, families.isEmpty {
      throw DirectDNSError(.invalidConfiguration, "families is empty: choose any, ipv4 or ipv6.")
    }
    if case .share(let share) = minimum, !(0...1).contains(share) {
      throw DirectDNSError(.invalidConfiguration, "minimum is a share of \(share): give one from 0 to 1.")
    }
    guard retry.limit >= 0, retry.backoff >= .zero, retry.maximumBackoff >= .zero else {
      throw DirectDNSError(.invalidConfiguration, "retry has a negative value: 0 tries and 0 s are the least.")
    }
  }
}
