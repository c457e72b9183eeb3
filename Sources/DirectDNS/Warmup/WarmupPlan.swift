// SPDX-License-Identifier: Apache-2.0
/// What a warm-up looks up, how fast, and when it has succeeded.
///
/// Every property but the names has a default. A job refuses a plan with values that make no sense, such as no time.
public struct WarmupPlan: Sendable {
  /// What happens if a warm-up does not reach its minimum.
  public enum Shortfall: Sendable, Hashable {
    /// It is ready all the same, and its report says `missed`: lookups will try again, and the system's DNS may help.
    case accepted
    /// ``WarmupJob/ready`` and ``WarmupJob/run()`` throw an error of code ``DirectDNSError/Code/warmupMissed``.
    case fails
  }

  /// The names that are refreshed before they expire, after the warm-up.
  public enum KeepAlive: Sendable, Hashable {
    /// Only those of the resolver's configuration.
    case none
    /// All names of the plan, except those that are known to have no address.
    case all
    /// These, whether or not they are names of the plan.
    case names(Set<HostName>)
  }

  /// Where the names come from; a name that is in several counts once.
  public var sources: [WarmupSource]
  /// The families to ask for.
  ///
  /// Default nil: as the resolver's configuration says.
  public var families: AddressFamilies?
  /// The most names under way at a time.
  ///
  /// Default 64. If every provider has a rate limit, no more than the limits allow in one second.
  public var concurrency: Int
  /// The most names that begin in a second, on average; a twentieth of them, and one at least, may begin at once.
  ///
  /// Default nil: as fast as the providers' own rates allow.
  public var rate: Double?
  /// How long it may take; names that are not done by then are abandoned.
  ///
  /// Default 60 s, so that a dead network delays a start by no more than that; nil means no limit.
  public var timeout: Duration?
  /// How many names must have an address; expired answers count.
  ///
  /// Default all of them.
  public var minimum: WarmupMinimum
  /// What happens if fewer names have one.
  ///
  /// Default ``Shortfall/accepted``.
  public var shortfall: Shortfall
  /// Which names are tried again.
  ///
  /// Default: two more tries; see ``WarmupRetry``.
  public var retry: WarmupRetry
  /// Which names are kept alive afterwards.
  ///
  /// Default none.
  public var keepAlive: KeepAlive

  /// Creates a plan for the names of those sources; everything else has a default.
  public init(
    _ sources: [WarmupSource], families: AddressFamilies? = nil, concurrency: Int = 64, rate: Double? = nil,
    timeout: Duration? = .seconds(60), minimum: WarmupMinimum = .all, shortfall: Shortfall = .accepted,
    retry: WarmupRetry = WarmupRetry(), keepAlive: KeepAlive = .none
  ) {
    self.sources = sources
    self.families = families
    self.concurrency = concurrency
    self.rate = rate
    self.timeout = timeout
    self.minimum = minimum
    self.shortfall = shortfall
    self.retry = retry
    self.keepAlive = keepAlive
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
    if case .names(let count) = minimum, count < 0 {
      throw DirectDNSError(.invalidConfiguration, "minimum is \(count) names: 0 is the least.")
    }
    guard retry.limit >= 0, retry.backoff >= .zero, retry.maximumBackoff >= .zero else {
      throw DirectDNSError(.invalidConfiguration, "retry has a negative value: 0 tries and 0 s are the least.")
    }
  }
}

/// Which names are looked up again, how often, and when.
public struct WarmupRetry: Sendable, Hashable {
  /// The most tries after the first one.
  ///
  /// Default 2. Up to ten tries that were refused with 429 are not counted, since a 429 says nothing about the name.
  public var limit: Int
  /// The pause before the second try; it doubles with each further one.
  ///
  /// Default 1 s, which is also the default of ``CachePolicy/minimumFailureTTL``: an earlier try would get the
  /// remembered failure.
  public var backoff: Duration
  /// The longest pause, to which up to a tenth is added at random; a provider's `Retry-After`, and the time that the
  /// resolver remembers the failure, may be longer.
  ///
  /// Default 30 s.
  public var maximumBackoff: Duration
  /// The errors that are worth another try.
  ///
  /// Default `upstreamFailed` and `timedOut`. A negative answer is an answer, and a name that a policy refuses stays
  /// refused.
  public var codes: Set<DirectDNSError.Code>

  /// Creates a rule; without arguments, the defaults.
  public init(
    limit: Int = 2, backoff: Duration = .seconds(1), maximumBackoff: Duration = .seconds(30),
    codes: Set<DirectDNSError.Code> = [.upstreamFailed, .timedOut]
  ) {
    self.limit = limit
    self.backoff = backoff
    self.maximumBackoff = maximumBackoff
    self.codes = codes
  }

  /// No name is tried again, except after a 429.
  public static let never = WarmupRetry(limit: 0)

  /// How often one name is tried again after a 429.
  private static let rejectionLimit = 10

  /// When a name is looked up again; nil if it is not.
  ///
  /// - Parameters:
  ///   - code: why there is no answer.
  ///   - failures: the tries that failed, including this one, without those that were refused with 429.
  ///   - rejections: the tries that were refused with 429, including this one.
  ///   - failureTTL: how long the resolver remembers the failure: an earlier try would only get that.
  ///   - jitter: from 0 to 1, so that not all names are tried again at the same time.
  ///   - now: the present.
  /// - Returns: the instant.
  func next(
    after code: DirectDNSError.Code, failures: Int, rejections: Int, failureTTL: Duration, jitter: Double,
    at now: ResolverInstant
  ) -> ResolverInstant? {
    guard codes.contains(code), failures <= limit, rejections <= Self.rejectionLimit else { return nil }
    let pause = backoff.doubled(failures + rejections - 1, atMost: maximumBackoff)
    let longest = max(pause, failureTTL)
    return now + longest + .nanoseconds(saturating: Double(longest.wholeNanoseconds) * 0.1 * min(max(jitter, 0), 1))
  }
}

/// How many names must have an address for a warm-up to have succeeded.
public enum WarmupMinimum: Sendable, Hashable {
  /// That many names.
  case names(Int)
  /// A share of the list's names, from 0 to 1, rounded up; an empty list reaches only 0.
  case share(Double)

  /// Every name.
  public static let all = WarmupMinimum.share(1)

  /// Reads `40` or `95%`.
  public init?(_ text: String) {
    if text.utf8.last == UInt8(ascii: "%") {
      let digits = text.dropLast()
      guard digits.utf8.allSatisfy({ ASCII.isDigit($0) || $0 == ASCII.dot }), let percent = Double(digits),
        (0...100).contains(percent)
      else { return nil }
      self = .share(percent / 100)
    } else {
      guard text.utf8.allSatisfy(ASCII.isDigit), let count = Int(text) else { return nil }
      self = .names(count)
    }
  }

  /// How many names must have an address, of that many in all.
  public func needed(of names: Int) -> Int {
    switch self {
    case .names(let count): return max(0, count)
    case .share(let wanted):
      let share = Self.bounded(wanted)
      // A rounding error, as in 7 % of 100, must not add one name. The least is 1, so that a list that is empty by
      // mistake does not reach its minimum.
      return share > 0 ? max(1, min(names, Int(exactly: (share * Double(names) - 1e-6).rounded(.up)) ?? names)) : 0
    }
  }

  /// The share, limited to 0...1; NaN counts as 1.
  private static func bounded(_ share: Double) -> Double { share.isNaN ? 1 : min(max(share, 0), 1) }

  /// Whether that many names are enough.
  ///
  /// - Parameters:
  ///   - answered: the names that have an address.
  ///   - names: the names of the list, as far as they are known.
  ///   - isListComplete: whether all of them are known; until then no share but 0 is reached.
  /// - Returns: whether the minimum is reached.
  func isReached(_ answered: Int, of names: Int, isListComplete: Bool) -> Bool {
    if !isListComplete, case .share(let share) = self, Self.bounded(share) > 0 { return false }
    return answered >= needed(of: names)
  }
}

extension WarmupMinimum: CustomStringConvertible, Codable {
  /// `40` or `95%`.
  public var description: String {
    switch self {
    case .names(let count): return "\(count)"
    case .share(let share):
      // Digits down to a billionth of a percent, so that no share that anybody writes reads as another one.
      let (whole, rest) = Int64((Self.bounded(share) * 1e11).rounded()).quotientAndRemainder(dividingBy: 1_000_000_000)
      guard rest > 0 else { return "\(whole)%" }
      var digits = "\(1_000_000_000 + rest)".dropFirst()
      while digits.last == "0" { digits.removeLast() }
      return "\(whole).\(digits)%"
    }
  }

  /// Decodes `40` or `95%`.
  public init(from decoder: any Decoder) throws {
    guard let minimum = WarmupMinimum(try String(from: decoder)) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "no count of names and no percentage"))
    }
    self = minimum
  }

  /// Encodes the minimum as its text.
  public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}
