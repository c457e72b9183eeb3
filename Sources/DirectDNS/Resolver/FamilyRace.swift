/// Two families asked together: when a lookup has waited long enough (RFC 8305 §3).
///
/// A value, moved by outcomes.
struct FamilyRace: Sendable, Hashable {
  /// The preferred family gets so much more time when the other has its addresses first.
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
  private let preferred: IPAddress.Family
  private let waitsForAll: Bool
  private var hasAddresses = false

  /// Begins a race of those families.
  ///
  /// - Parameters:
  ///   - families: the ones that were asked.
  ///   - preferred: the one that is used at once: IPv6, unless it has no route.
  ///   - waitsForAll: whether all outcomes are wanted, however long they take: nobody waits to connect.
  init(_ families: AddressFamilies, preferred: IPAddress.Family = .ipv6, waitsForAll: Bool = false) {
    open = families
    self.preferred = preferred
    self.waitsForAll = waitsForAll
  }

  /// Notes one family's outcome.
  ///
  /// A family that has nothing, or failed, does not end the lookup while the other is open.
  mutating func note(_ family: IPAddress.Family, _ outcome: Outcome) -> Step {
    open.remove(AddressFamilies(family))
    if outcome == .addresses { hasAddresses = true }
    if open.isEmpty { return .done }
    guard !waitsForAll else { return .wait }
    guard outcome == .addresses else { return hasAddresses ? .done : .wait }
    return family == preferred ? .done : .waitAtMost(Self.resolutionDelay)
  }
}
