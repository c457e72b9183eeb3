// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

#if canImport(FoundationNetworking)
  internal import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

extension HTTPCookieStorage {
  /// Moves the cookies that were filed under an address to the host that it stood for, if that is the only one.
  ///
  /// The rules are those of ``DirectDNS/CookieJar/repair(from:to:)-(_,Sequence<HostName>)``, by the same code: moved cookies become the
  /// host's alone; of two with one name and path the host's own stays, unless it is older. With two or more candidates the
  /// cookies stay where they are and are reported as held. A storage cannot hold them back: they still go to the address itself.
  ///
  /// On Linux Foundation forgets with the process when a cookie came: of two from an earlier one the host's own stays.
  ///
  /// - Parameters:
  ///   - address: the address that cookies are filed under.
  ///   - candidates: the hosts that it may have stood for.
  ///   - clock: where the present comes from; the system's clock by default.
  /// - Returns: what became of each.
  @discardableResult
  public func repair(
    from address: IPAddress, to candidates: some Sequence<HostName>, clock: any ResolverClock = SystemClock()
  ) -> CookieRepair {
    let candidates = Set(candidates)
    let concerned = Set([.address(address)] + candidates.map(Cookie.Domain.name))
    let now = CookieTime(clock)
    let filed = (cookies ?? []).compactMap { original -> (original: HTTPCookie, cookie: Cookie)? in
      guard let cookie = try? Cookie(original, now: now), concerned.contains(cookie.domain) else { return nil }
      return (original, cookie)
    }
    // A storage has no limits of its own, so nothing may fall out on the way.
    let jar = CookieJar(
      CookieJarConfiguration(maximumCookies: .max, maximumCookiesPerDomain: .max), clock: clock)
    jar.store(filed.map(\.cookie))
    let report = jar.repair(from: address, to: candidates)
    guard report.held.isEmpty, !candidates.isEmpty else { return report }
    for (original, cookie) in filed {
      if cookie.domain == .address(address) || report.superseded.contains(where: cookie.replaces) {
        deleteCookie(original)
      }
    }
    for cookie in report.moved { HTTPCookie(cookie).map(setCookie) }
    return report
  }

  /// Moves the cookies that were filed under an address to the host that it stood for.
  ///
  /// - Parameters:
  ///   - address: the address that cookies are filed under.
  ///   - host: the host that it stood for.
  ///   - clock: where the present comes from; the system's clock by default.
  /// - Returns: what became of each.
  @discardableResult
  public func repair(
    from address: IPAddress, to host: HostName, clock: any ResolverClock = SystemClock()
  ) -> CookieRepair {
    repair(from: address, to: [host], clock: clock)
  }
}
