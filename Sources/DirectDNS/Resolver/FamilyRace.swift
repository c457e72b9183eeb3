/// Two families asked together: when a lookup has waited long enough (RFC 8305 §3).
///
/// A value, moved by outcomes.
struct FamilyRace: Sendable, Hashable {
  /// IPv6 gets so much more time when IPv4 has its addresses first.
  static let resolutionDelay = Duration.milliseconds(50)

  enum Outcome: Sendable, Hashable { case addresses, nothing }

  enum Step: Sendable, Hashable {
    /// The lookup has what it needs, or all that it will get.
    case done
    case wait
    /// The lookup is done after that time, whatever comes.
    case waitAtMost(Duration)
  }

  private var open: AddressFamilies
  private var hasAddresses = false

  init(_ families: AddressFamilies) { open = families }

  /// Notes one family's outcome.
  ///
  /// A family that has nothing, or failed, does not end the lookup while the other is open.
  mutating func note(_ family: IPAddress.Family, _ outcome: Outcome) -> Step {
    open.remove(AddressFamilies(family))
    if outcome == .addresses { hasAddresses = true }
    if open.isEmpty { return .done }
    guard outcome == .addresses else { return hasAddresses ? .done : .wait }
    return family == .ipv6 ? .done : .waitAtMost(Self.resolutionDelay)
  }
}
