/// One race for a connection, by RFC 8305: which address is tried when, and what is left to try.
///
/// A pure value: the performer asks what to do, does it, and says how it went.
struct ConnectionAttempts {
  /// What the performer does next.
  enum Step: Equatable {
    /// Try this address now; the attempt has the number.
    case start(IPAddress, attempt: Int)
    /// Nothing before that instant, in the performer's milliseconds.
    case wait(until: Int64)
    /// Nothing: the race is won, or every address has been tried and the last attempts are running.
    case rest
    /// Every address has failed.
    case lost
  }

  private let addresses: [IPAddress]
  private let delay: Int64
  private var started = 0
  private var running: Set<Int> = []
  /// No further attempt starts before it, unless one fails.
  private var notBefore = Int64.min
  private(set) var winner: Int?

  /// Creates a race.
  ///
  /// - Parameters:
  ///   - addresses: at least one, in the order of trying; see ``interleaved(_:)``.
  ///   - delay: milliseconds from one attempt to the next.
  init(_ addresses: [IPAddress], delay: Int64) {
    self.addresses = addresses
    self.delay = delay
  }

  /// What to do at an instant; ask again until it is no start.
  mutating func step(at now: Int64) -> Step {
    guard winner == nil else { return .rest }
    guard started < addresses.count else { return running.isEmpty ? .lost : .rest }
    guard now >= notBefore || running.isEmpty else { return .wait(until: notBefore) }
    let attempt = started
    started += 1
    running.insert(attempt)
    notBefore = now + delay
    return .start(addresses[attempt], attempt: attempt)
  }

  /// When the next attempt starts if nothing happens; nothing when none will.
  var nextStart: Int64? { winner == nil && started < addresses.count ? notBefore : nil }

  /// An attempt has failed: the next may start at once (RFC 8305 §5).
  mutating func failed(_ attempt: Int) {
    guard running.remove(attempt) != nil else { return }
    notBefore = .min
  }

  /// An attempt stands first.
  ///
  /// - Returns: whether it has won; a later one has lost.
  mutating func connected(_ attempt: Int) -> Bool {
    guard winner == nil || winner == attempt else { return false }
    winner = attempt
    return true
  }

  /// The families in turn, each in its own order, beginning with the first address's (RFC 8305 §4).
  static func interleaved(_ addresses: [IPAddress]) -> [IPAddress] {
    guard let family = addresses.first?.family, addresses.contains(where: { $0.family != family }) else {
      return addresses
    }
    let (first, second) = (addresses.filter { $0.family == family }, addresses.filter { $0.family != family })
    var mixed: [IPAddress] = []
    for index in 0..<max(first.count, second.count) {
      if index < first.count { mixed.append(first[index]) }
      if index < second.count { mixed.append(second[index]) }
    }
    return mixed
  }
}
