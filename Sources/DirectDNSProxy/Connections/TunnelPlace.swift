// SPDX-License-Identifier: Apache-2.0
/// A tunnel's place among as many as there may be: from when it is asked for, since all that are asked for at once would
/// find room otherwise, to its end.
final class TunnelPlace {
  private let tunnels: LimitedCount
  private var isTaken = true

  /// Takes one.
  ///
  /// - Throws: what the client is told where there is none.
  init(_ loop: ProxyLoop, _ limits: ProxyLimits) throws(ProxyRefusal) {
    tunnels = loop.shared.tunnels
    guard tunnels.enter(limit: limits.tunnels ?? limits.clients) else {
      isTaken = false
      throw ProxyRefusal(
        503, "connection_limit_reached", "The proxy carries as many tunnels as it may: try again later.")
    }
  }

  /// Gives it up, once.
  func leave() {
    guard isTaken else { return }
    isTaken = false
    tunnels.leave()
  }
}
