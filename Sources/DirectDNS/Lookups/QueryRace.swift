// SPDX-License-Identifier: Apache-2.0
/// The queries of one question that run at the same time, and when the next decision about them is due.
///
/// A value: queries that begin and end change it, and so does time.
struct QueryRace: Sendable, Hashable {
  /// A decision that is due.
  enum Decision: Sendable, Hashable {
    /// The server takes longer than usual: a second one may be asked as well.
    case hedge
    /// Another server is asked as well, which would not be asked in time otherwise.
    case another
    /// The query at that server has used up its time: another server takes its place, if there is one.
    case timeout(of: Number<DNSServer>)
  }

  private struct Query: Sendable, Hashable {
    var server: Number<DNSServer>
    /// When its time is used up; nil once that has been decided about.
    var timeoutAt: ResolverInstant?
  }

  /// How long a query may take while there is another server to ask instead.
  private let time: Duration
  private let hedges: Bool
  /// Whether any query has begun.
  private(set) var hasBegun = false
  private var hedgeAt: ResolverInstant?
  private var anotherAt: ResolverInstant?
  private var running: [Query] = []

  /// Creates a race without queries.
  ///
  /// - Parameters:
  ///   - time: how long a query may take while there is another server to ask instead.
  ///   - hedges: whether a second server may be asked while the first one is still in time.
  init(time: Duration, hedges: Bool) {
    self.time = time
    self.hedges = hedges
  }

  /// A query begins.
  ///
  /// - Parameters:
  ///   - server: the server's number.
  ///   - hedgingDelay: how long the query is alone, if no other one is under way.
  ///   - left: how long servers may be asked.
  ///   - others: how many servers there are to ask beside this one. Where a query may take all the time that is left, they
  ///     have a share of it each.
  ///   - isStopgap: whether its server is asked only because better ones cannot be for a moment: after that delay one
  ///     of these takes its place.
  ///   - now: the present.
  mutating func begin(
    _ server: Number<DNSServer>, hedgingDelay: Duration, left: Duration, others: Int, isStopgap: Bool = false,
    at now: ResolverInstant
  ) {
    // Of queries one after the other each has its own delay, as long as none has had a hedge.
    if running.isEmpty, !hasBegun || hedgeAt != nil { hedgeAt = hedges && !isStopgap ? now + hedgingDelay : nil }
    hasBegun = true
    anotherAt = others > 0 && left <= time ? now + left / (others + 1) : nil
    running.append(Query(server: server, timeoutAt: now + (isStopgap ? min(hedgingDelay, time) : time)))
  }

  mutating func end(_ server: Number<DNSServer>) { running.removeAll { $0.server == server } }

  /// Postpones the decision about a query.
  mutating func postpone(_ server: Number<DNSServer>, until instant: ResolverInstant) {
    for index in running.indices where running[index].server == server { running[index].timeoutAt = instant }
  }

  /// When the next decision is due; nil if none is.
  var nextInstant: ResolverInstant? {
    running.reduce(Self.earlier(hedgeAt, anotherAt)) { Self.earlier($0, $1.timeoutAt) }
  }

  private static func earlier(_ one: ResolverInstant?, _ other: ResolverInstant?) -> ResolverInstant? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
  }

  /// The next decision that is due; each is returned once.
  mutating func due(at now: ResolverInstant) -> Decision? {
    if let instant = hedgeAt, instant <= now {
      hedgeAt = nil
      return .hedge
    }
    if let instant = anotherAt, instant <= now {
      anotherAt = nil
      return .another
    }
    for index in running.indices {
      guard let instant = running[index].timeoutAt, instant <= now else { continue }
      running[index].timeoutAt = nil
      return .timeout(of: running[index].server)
    }
    return nil
  }
}
