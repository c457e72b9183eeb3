// SPDX-License-Identifier: Apache-2.0
/// Two families asked together: when a lookup has waited long enough (RFC 8305 §3).
///
/// A value, moved by outcomes.
struct FamilyRace: Sendable, Hashable {
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

  enum Outcome: Sendable, Hashable { case addresses, nothing }

  enum Step: Sendable, Hashable {
    /// The lookup has what it needs, or all that it will get.
    case done
    case wait
    /// The lookup is done after that time, whatever comes.
    case waitAtMost(Duration)
  }

  private var open: AddressFamilies
  private let purpose: Purpose
  private let preferred: IPAddress.Family
  private var hasAddresses = false

  /// Begins a race of those families.
  ///
  /// - Parameters:
  ///   - families: the ones that were asked.
  ///   - purpose: what the addresses are for.
  ///   - preferred: the one that a connection is tried with first: IPv6, unless it has no route.
  init(_ families: AddressFamilies, for purpose: Purpose, preferred: IPAddress.Family = .ipv6) {
    open = families
    self.purpose = purpose
    self.preferred = preferred
  }

  /// Notes one family's outcome.
  ///
  /// A family that has nothing, or failed, does not end the lookup while the other is open.
  mutating func note(_ family: IPAddress.Family, _ outcome: Outcome) -> Step {
    open.remove(AddressFamilies(family))
    if outcome == .addresses { hasAddresses = true }
    if open.isEmpty { return .done }
    guard hasAddresses else { return .wait }
    switch purpose {
    case .keeping: return .wait
    case .connecting where family == preferred: return .done
    case .connecting, .handingOut: return .waitAtMost(Self.resolutionDelay)
    }
  }
}
