// SPDX-License-Identifier: Apache-2.0
/// The result of a warm-up.
///
/// Its size does not depend on the number of names: lists stop at a limit, and say how many they left out. Every list
/// has a fixed order, so that equal runs make equal reports, except for the times.
public struct WarmupReport: Sendable, Hashable, Codable {
  /// The most failures, and the most rejected entries, that are listed.
  public static let listLimit = 1000
  /// The most names that are listed as the slowest.
  public static let slowestLimit = 10

  /// How it ended.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum End: String, Sendable, Hashable, Codable {
    /// It is under way.
    case running
    /// Every name is done.
    case finished
    /// The plan's timeout was over first.
    case deadline
    /// It was told to stop, or its resolver was shut down.
    case stopped
  }

  /// How far the names are ready for use.
  public enum Readiness: String, Sendable, Hashable, Codable {
    /// Every name of the list has an address that has not expired, or is known to have none.
    case complete
    /// The minimum is reached, but not every name has a current answer (yet).
    case degraded
    /// The minimum is not reached.
    case missed
  }

  /// One kind of failure.
  public struct Reason: Sendable, Hashable, Codable {
    /// The code of the error.
    public var code: DirectDNSError.Code
    /// How many names failed with it.
    public var names: Int
  }

  /// A name without an address.
  public struct Failure: Sendable, Hashable, Codable {
    /// The name.
    public var host: HostName
    /// The code of the error.
    public var code: DirectDNSError.Code
    /// Why there is none, with each server that was asked.
    public var message: String
  }

  /// A name that took long.
  public struct SlowName: Sendable, Hashable, Codable {
    /// The name.
    public var host: HostName
    // In milliseconds, as in the JSON.
    var durationMs: Double

    /// How long its last lookup took, in whole microseconds; the JSON has milliseconds, `durationMs`.
    public var duration: Duration {
      get { Duration(inMilliseconds: durationMs) }
      set { durationMs = newValue.inMilliseconds }
    }
  }

  /// The queries to one provider.
  public struct Queries: Sendable, Hashable, Codable {
    /// The provider's name, or `system`.
    public var provider: String
    /// The number of queries, including those of others who used the resolver at the same time.
    public var queries: Int
    /// How many of them got no answer.
    public var failed: Int
  }

  /// A pause that every provider asks for (429): no name begins before it is over.
  public struct Pause: Sendable, Hashable, Codable {
    /// The provider that may be asked before the others.
    public var provider: String
    // In milliseconds, as in the JSON.
    var leftMs: Double

    init(provider: String, left: Duration) {
      self.provider = provider
      leftMs = left.inMilliseconds
    }

    /// How much of it was left, in whole microseconds; the JSON has milliseconds, `leftMs`.
    public var left: Duration {
      get { Duration(inMilliseconds: leftMs) }
      set { leftMs = newValue.inMilliseconds }
    }
  }

  /// The list's names, as far as it was read; a name counts once, in whatever spelling.
  public var names = 0
  /// Entries that repeat an earlier name, in whatever spelling.
  public var duplicates = 0
  /// Names that were asked for and answered.
  public var resolved = 0
  /// Names that the store had.
  public var fromStore = 0
  /// Names that the cache had, and that cost no query.
  public var fromCache = 0
  /// Names among these three whose answer has expired, because no server could give a fresh one.
  public var expired = 0
  /// Names that do not exist or have no address of the families.
  public var negative = 0
  /// Names that could not be looked up.
  public var failed = 0
  /// Names that were not done at the end.
  public var unfinished = 0
  /// The negative and failed names by reason, sorted by the text of the code.
  public var reasons: [Reason] = []
  /// The first negative and failed names, at most ``listLimit``, sorted by name.
  public var failures: [Failure] = []
  /// How many more there were.
  public var failuresLeftOut = 0
  /// The first entries that were not names, at most ``listLimit``, in the order of reading.
  public var rejected: [WarmupRejection] = []
  /// How many more there were.
  public var rejectedLeftOut = 0
  /// The names that took longest, at most ``slowestLimit``, the slowest first.
  public var slowest: [SlowName] = []
  /// The queries to each provider, in the order in which they are asked.
  public var queries: [Queries] = []
  /// The answers that the store evicted for want of room (``AnswerStore/evicted``).
  ///
  /// A job leaves it 0: a program can set it after it has flushed the store, as `dnsctl` does.
  public var evicted = 0
  /// The pause that it is in, or was in when it ended early; nil without one.
  public var pause: Pause?
  // In milliseconds, as in the JSON.
  var durationMs = 0.0
  /// The plan's minimum.
  public var minimum: WarmupMinimum
  /// How many names that is.
  public var needed = 0
  /// Whether that many have an address; for a share, the list must also be complete.
  public var isMinimumReached = false
  /// Whether the list was read to its end.
  public var isListComplete = false
  /// How it ended.
  public var end = End.running

  init(minimum: WarmupMinimum) { self.minimum = minimum }

  /// How long it took, in whole microseconds; the JSON has milliseconds, `durationMs`.
  public var duration: Duration {
    get { Duration(inMilliseconds: durationMs) }
    set { durationMs = newValue.inMilliseconds }
  }
  /// The names that have an address.
  public var answered: Int { Self.sum(resolved, Self.sum(fromStore, fromCache)) }
  /// The names that are done.
  public var done: Int { Self.sum(answered, Self.sum(negative, failed)) }

  /// The sum; it saturates, since a report that was decoded may hold any number.
  private static func sum(_ left: Int, _ right: Int) -> Int {
    let (sum, overflow) = left.addingReportingOverflow(right)
    return overflow ? (left < 0 ? .min : .max) : sum
  }

  /// Whether it ended before every name was done.
  public var endedEarly: Bool { end == .deadline || end == .stopped }

  /// How far the names are ready for use.
  public var readiness: Readiness {
    guard isMinimumReached else { return .missed }
    return expired == 0 && failed == 0 && end == .finished ? .complete : .degraded
  }

  /// The report in one line.
  public var summary: String {
    var parts = ["\(answered) of \(names) \(names == 1 ? "name has" : "names have") an address"]
    if resolved > 0 { parts.append("\(resolved) resolved") }
    if fromStore > 0 { parts.append("\(fromStore) from the store") }
    if fromCache > 0 { parts.append("\(fromCache) from the cache") }
    if expired > 0 { parts.append("\(expired) of these expired") }
    if negative > 0 { parts.append("\(negative) negative") }
    if failed > 0 { parts.append("\(failed) failed") }
    if unfinished > 0 { parts.append("\(unfinished) unfinished") }
    if let pause {
      parts.append("\(pause.provider.printable) wanted no query for \(Int(pause.left.components.seconds)) s more (429)")
    }
    return parts.joined(separator: ", ")
  }
}

extension Duration {
  /// The duration in milliseconds, cut to whole microseconds, so that encoding and decoding keep it.
  var inMilliseconds: Double { Double(wholeNanoseconds / 1000) / 1000 }

  /// The duration of that many milliseconds; it saturates, since a report that was decoded may hold any number.
  init(inMilliseconds count: Double) {
    self = .nanoseconds(saturating: (count * 1000).rounded() * 1000)
  }
}
