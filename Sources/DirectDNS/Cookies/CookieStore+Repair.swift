// SPDX-License-Identifier: Apache-2.0
/// Moves cookies that were filed under an address, by a client that put the address in the URL and lost the name.
extension CookieStore {
  /// Moves the cookies of an address to the one host that it stood for; with several hosts, holds them back.
  mutating func repair(_ address: IPAddress, candidates: Set<HostName>, at now: CookieTime) -> CookieRepair {
    removeAll(on: [.address(address)]) { $0.cookie.isExpired(at: now) }
    guard let host = candidates.first else { return CookieRepair() }
    return candidates.count == 1 ? move(.address(address), to: .name(host), at: now) : hold(.address(address))
  }

  private mutating func hold(_ address: Cookie.Domain) -> CookieRepair {
    var report = CookieRepair()
    report.held = update(on: address) { $0.isHeld = true }
    return report
  }

  private mutating func move(
    _ address: Cookie.Domain, to host: Cookie.Domain, at now: CookieTime
  ) -> CookieRepair {
    var report = CookieRepair()
    removeAll(on: [host]) { $0.cookie.isExpired(at: now) }
    let misfiled = (table[address]?.entries ?? []).sorted { $0.order < $1.order }.map(\.cookie)
    removeAll(on: [address]) { _ in true }
    for cookie in misfiled {
      let own = (table[host]?.entries ?? []).map(\.cookie)
        .filter { $0.name == cookie.name && $0.path == cookie.path }
      guard !own.contains(where: { wins($0, over: cookie) }) else {
        report.superseded.append(cookie)
        continue
      }
      removeAll(on: [host]) { $0.cookie.name == cookie.name && $0.cookie.path == cookie.path }
      var moved = cookie
      moved.domain = host
      moved.isHeld = false
      insert(moved, at: now)
      report.superseded += own
      report.moved.append(moved)
    }
    return report
  }

  /// Whether the host's own cookie stays: if it is not older, or if it is `Secure` and the other one is not.
  private func wins(_ own: Cookie, over misfiled: Cookie) -> Bool {
    own.received >= misfiled.received || (own.isSecure && !misfiled.isSecure)
  }
}

/// What happened to the cookies that were filed under an address.
public struct CookieRepair: Hashable, Sendable {
  /// The cookies that belong to the host now.
  public internal(set) var moved: [Cookie] = []
  /// The cookies that were removed in favor of one with the same name and path: of the address, or the host's own.
  public internal(set) var superseded: [Cookie] = []
  /// The cookies that stay under the address and are never sent, since it stood for more than one host.
  public internal(set) var held: [Cookie] = []

  /// Creates an empty report.
  public init() {}
}
