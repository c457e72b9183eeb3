// SPDX-License-Identifier: Apache-2.0
/// Something that happened in a resolver, for traces.
///
/// No event holds a secret.
public enum ResolverEvent: Sendable {
  /// One query to one server, from beginning to end: for addresses, or for records of any type.
  public struct Attempt<Question: Sendable>: Sendable {
    /// The provider's name, or `system`.
    public var provider: String
    /// Scheme, host and port.
    public var origin: String
    /// What was asked.
    public var question: Question
    /// The address that answered, where it is known.
    public var address: IPAddress?
    /// The HTTP status, where there was one.
    public var status: Int?
    /// What came of it, in words.
    public var outcome: String
    /// Whether it brought an answer, a negative one included.
    public var isAnswer: Bool
    /// Whether it was sent because another one took long.
    public var isHedge: Bool
    /// How long it took.
    public var duration: Duration

    /// Creates one of its parts: for a test.
    public init(
      provider: String, origin: String, question: Question, address: IPAddress? = nil, status: Int? = nil,
      outcome: String, isAnswer: Bool, isHedge: Bool = false, duration: Duration = .zero
    ) {
      self.provider = provider
      self.origin = origin
      self.question = question
      self.address = address
      self.status = status
      self.outcome = outcome
      self.isAnswer = isAnswer
      self.isHedge = isHedge
      self.duration = duration
    }
  }

  /// A query ended; one that asked for several names has an event for each of its questions.
  case attempt(Attempt<AddressQuestion>)
  /// A query for records ended.
  case recordAttempt(Attempt<DNSQuestion>)
  /// A lookup was answered from the cache, by an answer that is being refreshed; fresh ones are not told, but for a
  /// few: that would cost each of them more than the lookup. Negative ones are not told. The metrics count all.
  case hit(HostName, Resolution.Freshness)
  /// A refresh of a cached name began behind an answer.
  case refresh(HostName)
  /// Names had to leave the full cache.
  case evicted(Int)
  /// The store of that name failed, or works again.
  case store(String, StoreEvent)
}
