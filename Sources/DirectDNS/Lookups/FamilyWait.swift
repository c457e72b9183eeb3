// SPDX-License-Identifier: Apache-2.0
/// How long a lookup waits for the A and AAAA answers of a name, which are asked for together (RFC 8305 §3).
///
/// A value: answers change it, and so does time.
struct FamilyWait: Sendable {
  /// How much more time the second family gets once the first one has addresses.
  static let resolutionDelay = Duration.milliseconds(50)

  /// What the addresses are for, which decides how long the second family is waited for.
  enum Purpose: Sendable, Hashable {
    /// The caller gets them, and would not learn of later ones: the second family has ``resolutionDelay``, whichever
    /// came first.
    case handingOut
    /// A connection race, which the other family can still join later: the preferred family is used at once, the other
    /// one after ``resolutionDelay``.
    case connecting
    /// The cache keeps them: all families are waited for until the end.
    case keeping
  }

  /// The outcomes that came in time, and those that were known before.
  private(set) var outcomes: FamilyOutcomes
  /// When the wait ends, even if something is missing.
  private(set) var end: ResolverInstant
  private(set) var isOver: Bool
  private var open: AddressFamilies
  private let purpose: Purpose
  private let preferred: IPAddress.Family
  /// Whether a family that it waited for has addresses.
  private var hasAddresses = false

  /// Begins a wait.
  ///
  /// - Parameters:
  ///   - families: the families to wait for; with none the wait is over at once.
  ///   - purpose: what the addresses are for.
  ///   - preferred: the family that connections try first: IPv6, unless it has no route.
  ///   - known: outcomes of other families that are known already.
  ///   - end: when the wait ends at the latest.
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

  /// Notes a family's outcome, unless the wait is over.
  ///
  /// A family that failed, or has no address, does not end the wait for the other one.
  mutating func note(_ family: IPAddress.Family, _ outcome: QuestionOutcome, at now: ResolverInstant) {
    guard !isOver else { return }
    outcomes[family] = outcome
    open.remove(AddressFamilies(family))
    if outcome.hasAddresses { hasAddresses = true }
    if open.isEmpty { isOver = true }
    guard !isOver, hasAddresses else { return }
    switch purpose {
    case .keeping: break
    case .connecting where family == preferred: isOver = true
    case .connecting, .handingOut: end = min(end, now + Self.resolutionDelay)
    }
  }

  /// Gives the family that is still missing no more than ``resolutionDelay``, whatever the addresses are for.
  mutating func shorten(at now: ResolverInstant) { end = min(end, now + Self.resolutionDelay) }

  /// Notes that time has passed.
  mutating func timePassed(at now: ResolverInstant) { if end <= now { isOver = true } }
}
