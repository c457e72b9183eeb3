// SPDX-License-Identifier: Apache-2.0
/// Something that happened in a resolver, for traces.
///
/// No event contains a secret.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum ResolverEvent: Sendable {
  /// One query to one server that has ended: for addresses, or for records of any type.
  public struct Query<Question: Sendable>: Sendable {
    /// The provider's name, or `system`.
    public var provider: String
    /// Scheme, host and port.
    public var origin: String
    /// What was asked.
    public var question: Question
    /// The address that answered; nil if it is not known.
    public var address: IPAddress?
    /// The HTTP status; nil if there was no reply.
    public var status: Int?
    /// How it ended, in words.
    public var outcome: String
    /// Whether it brought an answer, which may be negative.
    public var isAnswer: Bool
    /// Whether it was sent because another server took longer than usual (hedging).
    public var isHedge: Bool
    /// How long it took.
    public var duration: Duration
    /// What its failure says about the provider; nil for an answer.
    package var failure: ProviderFailure.Kind?

    /// Creates one from its parts, for a test.
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

  /// A query ended; one for several names has an event for each question.
  case query(Query<AddressQuestion>)
  /// A query for records ended.
  case recordQuery(Query<DNSQuestion>)
  /// A lookup was answered from the cache, by an answer that is being refreshed.
  ///
  /// Lookups that get a fresh answer have no event, except a few: it would cost more than the lookup. Nor have negative
  /// answers. The metrics count them all.
  case hit(HostName, freshness: Resolution.Freshness)
  /// A refresh of a cached name began while its answer was served.
  case refresh(HostName)
  /// So many names were evicted, since the cache was full.
  case evicted(names: Int)
  /// Something happened to the store of that name: it failed, or works again.
  case store(name: String, StoreEvent)
}
