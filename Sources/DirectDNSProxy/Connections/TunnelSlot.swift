// SPDX-License-Identifier: Apache-2.0
/// A tunnel's slot within the limit, taken at its request and not when it opens: otherwise all that are requested at
/// once would find room.
final class TunnelSlot {
  private let tunnels: LimitedCount
  private var isTaken = true

  /// Takes a slot.
  ///
  /// - Throws: the refusal, if there is no room.
  init(_ loop: ProxyLoop, _ limits: ProxyLimits) throws(ProxyRefusal) {
    tunnels = loop.shared.tunnels
    guard tunnels.enter(limit: limits.tunnels ?? limits.clients) else {
      throw ProxyRefusal(
        503, "connection_limit_reached", "The proxy has reached its limit of tunnels: try again later.")
    }
  }

  /// Gives it up, once.
  func leave() {
    guard isTaken else { return }
    isTaken = false
    tunnels.leave()
  }
}
