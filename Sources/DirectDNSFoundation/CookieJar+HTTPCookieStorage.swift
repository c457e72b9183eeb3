// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

#if canImport(FoundationNetworking)
  internal import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

extension CookieJar {
  /// Takes every cookie of a storage, each in place of the one of the same name, domain and path.
  ///
  /// - Parameters:
  ///   - storage: the storage, which stays as it is.
  ///   - clock: where the present comes from; the system's clock by default.
  /// - Returns: the cookies that break a rule of RFC 6265bis and were left out, with the rule.
  @discardableResult
  public func store(
    contentsOf storage: HTTPCookieStorage, clock: any ResolverClock = SystemClock()
  ) -> [(cookie: HTTPCookie, rejection: CookieRejection)] {
    let now = CookieTime(clock)
    var rejected: [(HTTPCookie, CookieRejection)] = []
    var taken: [Cookie] = []
    // A storage has them in no order on Linux, and those of one response came within a second: by the instants that
    // Foundation keeps the oldest goes first.
    for cookie in (storage.cookies ?? []).sorted(by: { ($0.creation ?? -.infinity) < ($1.creation ?? -.infinity) }) {
      do throws(CookieRejection) {
        taken.append(try Cookie(cookie, now: now))
      } catch {
        rejected.append((cookie, error))
      }
    }
    store(taken)
    return rejected
  }
}

extension HTTPCookieStorage {
  /// Takes every cookie of a jar that may be sent, each in place of the one of the same name, domain and path.
  ///
  /// - Parameter jar: the jar, which stays as it is.
  public func setCookies(of jar: CookieJar) {
    for cookie in jar.cookies where !cookie.isHeld { HTTPCookie(cookie).map(setCookie) }
  }
}
