// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// When the phases of a transfer were over, as far as it has come: pure, told what happens and when.
///
/// As curl counts them (lib/progress.c): each hop's phases from the beginning of that hop, and those of all hops added
/// up. A request on a connection that was there has neither connected nor had a TLS handshake.
struct TransferTimes: Sendable {
  struct Phases: Sendable, Hashable {
    var lookup = Duration.zero
    var connect = Duration.zero
    /// 0 without TLS.
    var appConnect = Duration.zero
    var pretransfer = Duration.zero
    var start = Duration.zero
  }

  /// All that came before the last hop.
  private(set) var redirect = Duration.zero
  private var past = Phases()
  private var hop = Phases()
  /// When the first hop and the present one began; nil before them.
  private var began: ResolverInstant?
  private var hopBegan: ResolverInstant?
  private var usesTLS = false
  private var isLookedUp = false
  /// The connections of the present hop whose TLS handshakes, or tunnels, were under way.
  private var opened: [IPAddress?: Duration] = [:]

  var phases: Phases {
    Phases(
      lookup: past.lookup + hop.lookup, connect: past.connect + hop.connect,
      appConnect: past.appConnect + hop.appConnect, pretransfer: past.pretransfer + hop.pretransfer,
      start: past.start + hop.start)
  }

  mutating func note(_ event: RequestEvent, at now: ResolverInstant) {
    let time = hopBegan.map { max(.zero, now - $0) } ?? .zero
    switch event {
    case .sending(let url):
      (past, hop, opened, isLookedUp) = (phases, Phases(), [:], false)
      // The rest of a redirect's body may come between that one and the next hop.
      if let began { redirect = max(.zero, now - began) }
      (began, hopBegan, usesTLS) = (began ?? now, now, url.scheme.isSecure)
    // An address needs no lookup; a second family may come when the first one is being connected to.
    case .resolved, .requesting:
      guard !isLookedUp else { break }
      (hop.lookup, isLookedUp) = (time, true)
    case .connected(let address, let isReused):
      hop.pretransfer = time
      guard !isReused else { break }
      hop.connect = opened[address] ?? time
      if usesTLS { hop.appConnect = time }
    default: break
    }
  }

  mutating func note(_ event: WireEvent, at now: ResolverInstant) {
    let time = hopBegan.map { max(.zero, now - $0) } ?? .zero
    switch event {
    case .opened(let address):
      hop.connect = time
      opened[address] = time
    case .response: hop.start = time
    case .proxy, .head: break
    }
  }
}
