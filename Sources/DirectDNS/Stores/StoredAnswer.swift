// SPDX-License-Identifier: Apache-2.0
/// An answer as a store keeps it: what one provider said about one family of one name.
///
/// It contains no secret, but a name, its addresses, the provider's name, and times.
public struct StoredAnswer: Sendable, Hashable {
  /// The question.
  public var question: AddressQuestion
  /// The answer.
  public var content: Answer.Content
  /// The end of the CNAME chain; nil if the name is no alias.
  public var canonicalName: HostName?
  /// The name of the provider that gave the answer, such as `alidns`.
  public var provider: String
  /// When it was asked for.
  public var asked: WallInstant
  /// When it expires.
  public var expires: WallInstant
  /// When it stops being of use, even as an expired answer: then a store may drop it.
  public var gone: WallInstant

  /// Creates an answer.
  public init(
    _ question: AddressQuestion, _ content: Answer.Content, canonicalName: HostName? = nil, provider: String,
    asked: WallInstant, expires: WallInstant, gone: WallInstant
  ) {
    self.question = question
    self.content = content
    self.canonicalName = canonicalName
    self.provider = provider
    self.asked = asked
    self.expires = expires
    self.gone = gone
  }
}

extension StoredAnswer {
  /// The state of a stored answer, for inspection.
  public struct State: Sendable, Hashable {
    /// The freshness that a lookup would report; nil for an answer that is of no use any more.
    public var freshness: Resolution.Freshness?
    /// The time since it was asked for; for one from the future, how far it is ahead.
    public var age: Duration
    /// The rest of its lifetime; negative once it has expired.
    public var timeLeft: Duration
  }

  /// The state of the answer for a resolver that starts now and reads it.
  ///
  /// - Parameters:
  ///   - now: the wall clock.
  ///   - policy: the resolver's; an answer lives no longer than it allows, whoever wrote it.
  /// - Returns: its freshness, age and what is left of its lifetime.
  public func state(at now: WallInstant, policy: CachePolicy = CachePolicy()) -> State {
    let present = ResolverInstant(nanoseconds: 0)
    let life = WallTime(wall: now, now: present).life(of: self, policy)
    let isNegative = if case .negative = content { true } else { false }
    let phase = CacheTimes(policy).phase(
      of: life, isNegative: isNegative, expired: .allowed, epoch: .min, at: present)
    return State(
      freshness: phase == .gone ? nil : Resolution.Freshness(phase), age: .nanoseconds(-life.askedAt),
      timeLeft: .nanoseconds(life.expireAt))
  }
}

extension StoredAnswer {
  /// The latest instant at which an answer can have been asked for, unless a clock is or was wrong.
  package static func latestAsked(at now: WallInstant) -> WallInstant { now + WallTime.tolerance }

  /// Whether it was asked for later than another answer to its question, by what can be told of clocks.
  ///
  /// One from the future is newer than none that is not: it would keep out every right one until its time has come.
  package func isNewer(than other: StoredAnswer, at now: WallInstant) -> Bool {
    let latest = Self.latestAsked(at: now)
    let isFromFuture = asked > latest
    return isFromFuture == (other.asked > latest) ? asked > other.asked : !isFromFuture
  }
}

/// What stands in a store, in words: one line, so that people can read it with the store's own tools.
///
///     1 1700000000000 1700000300000 1700086700000 alidns www.example.net 192.0.2.1,192.0.2.2
///
/// The format's version, then when it was asked for, expires and is gone in milliseconds since 1970, the provider, the
/// canonical name or `-`, and the addresses, `nxdomain` or `nodata`. The question is not in it: it is what a store
/// files the line under.
extension StoredAnswer {
  /// The version of the format, which is its first word.
  ///
  /// A line of another version reads as no answer at all.
  public static let textVersion = 1

  /// The line that says all but the question.
  public var text: String {
    let said =
      switch content {
      case .addresses(let addresses): addresses.map(\.description).joined(separator: ",")
      case .negative(.nameNotFound): "nxdomain"
      case .negative(.noAddress): "nodata"
      }
    let instants = [asked, expires, gone].map { "\($0.milliseconds)" }.joined(separator: " ")
    return "\(Self.textVersion) \(instants) \(Self.word(provider)) \(canonicalName?.text ?? "-") \(said)"
  }

  /// Reads a line that was filed under a question; nil if it is damaged, or of another version.
  ///
  /// - Parameters:
  ///   - text: the line.
  ///   - question: what it is the answer to; an address of the other family is damage.
  public init?(text: String, to question: AddressQuestion) {
    let words = text.split(separator: " ", maxSplits: 7, omittingEmptySubsequences: false)
    guard words.count == 7, words[0] == "\(Self.textVersion)", let asked = Int64(words[1]),
      let expires = Int64(words[2]), let gone = Int64(words[3]), !words[4].isEmpty, asked <= expires, expires <= gone
    else { return nil }
    let canonicalName: HostName? = words[5] == "-" ? nil : (try? HostName(String(words[5])))
    guard words[5] == "-" || canonicalName != nil, let content = Self.content(words[6], question.family) else {
      return nil
    }
    self.init(
      question, content, canonicalName: canonicalName, provider: String(words[4]),
      asked: WallInstant(milliseconds: asked), expires: WallInstant(milliseconds: expires),
      gone: WallInstant(milliseconds: gone))
  }

  private static func content(_ word: Substring, _ family: IPAddress.Family) -> Answer.Content? {
    switch word {
    case "nxdomain": return .negative(.nameNotFound)
    case "nodata": return .negative(.noAddress)
    default:
      let texts = word.split(separator: ",", omittingEmptySubsequences: false)
      let addresses = texts.compactMap { IPAddress(String($0)) }.filter { $0.family == family }
      guard addresses.count == texts.count, addresses.count <= Answer.addressLimit else { return nil }
      return .addresses(addresses)
    }
  }

  /// A provider's name as one word: a caller may have named it as they liked.
  private static func word(_ name: String) -> String {
    let word = String(
      String.UnicodeScalarView(name.unicodeScalars.map { $0.value > 0x20 && $0.value < 0x7f ? $0 : "_" }))
    return word.isEmpty ? "_" : word
  }
}
