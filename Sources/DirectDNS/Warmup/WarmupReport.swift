// SPDX-License-Identifier: Apache-2.0
/// What a warm-up came to.
///
/// Its size does not depend on the number of names: lists stop at a limit and say how many they left out. Equal runs make
/// equal reports but for the times: every list has an order of its own.
public struct WarmupReport: Sendable, Hashable, Codable {
  /// The most failures, and the most rejected entries, that are listed.
  public static let listLimit = 1000
  /// The most names that are listed as the slowest.
  public static let slowestLimit = 10

  /// How it ended.
  public enum End: String, Sendable, Hashable, Codable {
    /// It is under way.
    case running
    /// Every name is done.
    case finished
    /// Its deadline came first.
    case deadline
    /// It was told to stop, or its resolver was shut down.
    case stopped
  }

  /// How ready its users can be.
  public enum Standing: String, Sendable, Hashable, Codable {
    /// Every name of the list has an address that has not expired, or is known to have none.
    case complete
    /// The minimum is reached, and not every name has a current answer.
    case degraded
    /// The minimum is not reached.
    case missed
  }

  /// One kind of failure.
  public struct Reason: Sendable, Hashable, Codable {
    /// Why.
    public var code: DirectDNSError.Code
    /// How many names failed so.
    public var names: Int
  }

  /// A name without an address.
  public struct Failure: Sendable, Hashable, Codable {
    /// The name.
    public var host: HostName
    /// The code of the error.
    public var code: DirectDNSError.Code
    /// Why there is none, with everyone who was asked.
    public var message: String
  }

  /// A name that took long.
  public struct Slow: Sendable, Hashable, Codable {
    /// The name.
    public var host: HostName
    // As the JSON has it.
    var durationMs: Double

    /// How long its last lookup took, in whole microseconds; the JSON has milliseconds, `durationMs`.
    public var duration: Duration {
      get { Duration(inMilliseconds: durationMs) }
      set { durationMs = newValue.inMilliseconds }
    }
  }

  /// What one provider was asked.
  public struct Queries: Sendable, Hashable, Codable {
    /// The provider's name, or `system`.
    public var provider: String
    /// The queries, those of others who used the resolver meanwhile included.
    public var queries: Int
    /// Those of them that brought no answer.
    public var failed: Int
  }

  /// A pause that every provider asks for (429): no name begins before it is over.
  public struct Pause: Sendable, Hashable, Codable {
    /// The provider that may be asked before the others.
    public var provider: String
    // As the JSON has it.
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

  /// The list's names, each counted once however it is spelled; those that were not read are not known.
  public var names = 0
  /// Entries that were another spelling of a name before them.
  public var duplicates = 0
  /// Names that were asked for and answered.
  public var resolved = 0
  /// Names that the store had.
  public var fromStore = 0
  /// Names that the cache had, and that cost no query.
  public var fromCache = 0
  /// Names among these three whose answer has expired, since nobody could be asked.
  public var expired = 0
  /// Names that do not exist or have no address of the families.
  public var negative = 0
  /// Names that could not be looked up.
  public var failed = 0
  /// Names that were not done at the end.
  public var unfinished = 0
  /// The negative and failed names by reason, in the order of the codes' spelling.
  public var reasons: [Reason] = []
  /// The first negative and failed names that there were, at most ``listLimit``, by name.
  public var failures: [Failure] = []
  /// How many more there were.
  public var failuresLeftOut = 0
  /// The first entries that were no names, at most ``listLimit``, in the order of reading.
  public var rejected: [WarmupRejection] = []
  /// How many more there were.
  public var rejectedLeftOut = 0
  /// The names that took longest, at most ``slowestLimit``, the slowest first.
  public var slowest: [Slow] = []
  /// What the providers were asked, in the order of asking.
  public var queries: [Queries] = []
  /// The answers that the store had no room for; for whoever has waited for the store to note
  /// (``AnswerStore/letGo``), as `dnsctl` does.
  public var letGo = 0
  /// The pause that it is in, or was in when it ended early; nil without one.
  public var pause: Pause?
  // As the JSON has it.
  var durationMs = 0.0
  /// What the plan wanted.
  public var minimum: WarmupMinimum
  /// How many names that is.
  public var needed = 0
  /// Whether so many have an address.
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
  public var answered: Int { resolved + fromStore + fromCache }
  /// The names that are done.
  public var done: Int { answered + negative + failed }
  /// Whether it ended before every name was done.
  public var wasCutShort: Bool { end == .deadline || end == .stopped }

  /// How ready its users can be.
  public var standing: Standing {
    guard isMinimumReached else { return .missed }
    return expired == 0 && failed == 0 && !wasCutShort ? .complete : .degraded
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
  /// The duration in milliseconds, in whole microseconds, so that text and back is the same.
  var inMilliseconds: Double { Double(wholeNanoseconds / 1000) / 1000 }

  /// The other way round: what a report has read may be any number.
  init(inMilliseconds count: Double) {
    self = .nanoseconds(saturating: (count * 1000).rounded() * 1000)
  }
}
