// SPDX-License-Identifier: Apache-2.0
/// A wait for the families of one name, as long as ``FamilyRace`` says and a deadline allows.
///
/// A value, moved by outcomes and by `now`.
struct FamilyWait: Sendable {
  /// What came in time, beside what was known before.
  private(set) var outcomes: FamilyOutcomes
  /// When it ends, whatever comes.
  private(set) var end: ResolverInstant
  private(set) var isOver: Bool
  private var race: FamilyRace

  /// Begins a wait.
  ///
  /// - Parameters:
  ///   - families: the ones that are awaited; without any it is over at once.
  ///   - purpose: what the addresses are for.
  ///   - preferred: the family that a connection is tried with first.
  ///   - known: what is known of other families.
  ///   - end: when it ends at the latest.
  init(
    _ families: AddressFamilies, for purpose: FamilyRace.Purpose, preferred: IPAddress.Family = .ipv6,
    beside known: FamilyOutcomes = FamilyOutcomes(), until end: ResolverInstant
  ) {
    outcomes = known
    self.end = end
    isOver = families.isEmpty
    race = FamilyRace(families, for: purpose, preferred: preferred)
  }

  /// Notes one family's outcome; one that comes after the end is passed over.
  mutating func note(_ family: IPAddress.Family, _ outcome: QueryOutcome, at now: ResolverInstant) {
    guard !isOver else { return }
    outcomes[family] = outcome
    switch race.note(family, outcome.hasAddresses ? .addresses : .nothing) {
    case .done: isOver = true
    case .wait: break
    case .waitAtMost(let duration): end = min(end, now + duration)
    }
  }

  /// Notes that time has passed.
  mutating func timePassed(at now: ResolverInstant) { if end <= now { isOver = true } }
}
