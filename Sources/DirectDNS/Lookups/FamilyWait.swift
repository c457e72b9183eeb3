// SPDX-License-Identifier: Apache-2.0
/// A wait for the families of one name, which are asked together: as long as RFC 8305 §3 says and a deadline allows.
///
/// A value, moved by outcomes and by `now`.
struct FamilyWait: Sendable {
  /// The family that comes second gets so much more time.
  static let resolutionDelay = Duration.milliseconds(50)

  /// What the addresses are wanted for, which says how long the second family is waited for.
  enum Purpose: Sendable, Hashable {
    /// They are handed out, and whoever gets them hears of no others: ``resolutionDelay`` for the second family,
    /// whichever came first.
    case handingOut
    /// A race for a connection, which the other family's addresses join when they come: the preferred family is used at
    /// once, and the other one after ``resolutionDelay``.
    case connecting
    /// They are kept: all outcomes, however long they take.
    case keeping
  }

  /// What came in time, beside what was known before.
  private(set) var outcomes: FamilyOutcomes
  /// When it ends, whatever comes.
  private(set) var end: ResolverInstant
  private(set) var isOver: Bool
  private var open: AddressFamilies
  private let purpose: Purpose
  private let preferred: IPAddress.Family
  /// Whether a family that was awaited has addresses.
  private var hasAddresses = false

  /// Begins a wait.
  ///
  /// - Parameters:
  ///   - families: the ones that are awaited; without any it is over at once.
  ///   - purpose: what the addresses are for.
  ///   - preferred: the one that a connection is tried with first: IPv6, unless it has no route.
  ///   - known: what is known of other families.
  ///   - end: when it ends at the latest.
  init(
    _ families: AddressFamilies, for purpose: Purpose, preferred: IPAddress.Family = .ipv6,
    beside known: FamilyOutcomes = FamilyOutcomes(), until end: ResolverInstant
  ) {
    outcomes = known
    self.end = end
    isOver = families.isEmpty
    open = families
    self.purpose = purpose
    self.preferred = preferred
  }

  /// Notes one family's outcome; one that comes after the end is passed over.
  ///
  /// A family that has nothing, or failed, does not end the wait while the other is open.
  mutating func note(_ family: IPAddress.Family, _ outcome: QueryOutcome, at now: ResolverInstant) {
    guard !isOver else { return }
    outcomes[family] = outcome
    open.remove(AddressFamilies(family))
    if outcome.hasAddresses { hasAddresses = true }
    if open.isEmpty { return isOver = true }
    guard hasAddresses else { return }
    switch purpose {
    case .keeping: break
    case .connecting where family == preferred: isOver = true
    case .connecting, .handingOut: end = min(end, now + Self.resolutionDelay)
    }
  }

  /// Gives the family that is still open ``resolutionDelay`` and no more, whatever the addresses are for.
  mutating func shorten(at now: ResolverInstant) { end = min(end, now + Self.resolutionDelay) }

  /// Notes that time has passed.
  mutating func timePassed(at now: ResolverInstant) { if end <= now { isOver = true } }
}
