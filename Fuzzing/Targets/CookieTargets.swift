// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

extension FuzzTarget {
  /// Cookies as they come from servers and from files.
  static let cookies = [
    FuzzTarget("set-cookie", setCookie),
    FuzzTarget("cookie-date", cookieDate),
    FuzzTarget("cookie-file", cookieFile),
  ]

  private static let now = CookieTime(secondsSince1970: 1_700_000_000)

  private static func setCookie(_ bytes: [UInt8]) throws(BrokenRule) {
    let field = bytes.asText
    for url in [WebURL(constant: "https://www.example.com/a/b?c"), WebURL(constant: "http://192.0.2.1/")] {
      let restorer = ResponseRestorer(originalURL: url, addresses: [.ipv4(0xc000_0201)])
      let restored = restorer.setCookie(field)
      try require(restorer.setCookie(restored) == restored, "restored twice a cookie is another one: \(restored)")
      let read = Result { () throws(CookieRejection) in try Cookie(setCookie: field, for: url, now: now) }
      guard case .success(let cookie) = read else { continue }
      if url.host != .address(.ipv4(0xc000_0201)) {
        try require((try? Cookie(setCookie: restored, for: url, now: now)) == cookie, "restoring changes a good cookie")
      }
      try check(cookie)
      let jar = CookieJar()
      jar.store([cookie])
      let header = jar.cookieHeader(for: url) ?? ""
      try require(!header.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }, "a field that cannot be sent")
    }
  }

  private static func check(_ cookie: Cookie) throws(BrokenRule) {
    for part in [cookie.name, cookie.value, cookie.path] {
      try require(!part.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }, "a control in \(cookie)")
    }
    try require(cookie.expires.map { $0 <= now + Cookie.maximumAge } ?? true, "beyond 400 days: \(cookie)")
    let (text, leftOut) = NetscapeCookieText.encode([cookie])
    guard leftOut.isEmpty else { return }
    let (cookies, problems) = NetscapeCookieText.decode(Array(text.utf8), now: now)
    try require(problems.isEmpty && cookies.count == 1, "a file's line cannot be read: \(text.debugDescription)")
    guard let again = cookies.first else { return }
    try require(
      again.name == cookie.name && again.value == cookie.value && again.path == cookie.path
        && again.domain == cookie.domain && again.isHostOnly == cookie.isHostOnly && again.isSecure == cookie.isSecure
        && again.isHTTPOnly == cookie.isHTTPOnly && again.isHeld == cookie.isHeld,
      "a cookie changes in a file: \(text.debugDescription)")
    // 0 is a session's.
    if cookie.expires?.secondsSince1970 != 0 {
      try require(again.expires == cookie.expires, "an end changes in a file: \(text.debugDescription)")
    }
  }

  private static func cookieDate(_ bytes: [UInt8]) throws(BrokenRule) {
    guard let time = CookieTime(cookieDate: bytes.asText) else { return }
    // The years 1601 to 9999.
    try require((-11_644_473_600..<253_402_300_800).contains(time.secondsSince1970), "\(time.secondsSince1970) s")
    let date = CivilDate(daysSince1970: time.secondsSince1970.quotientRoundedDown(by: 86_400))
    try require((1...12).contains(date.month) && (1...31).contains(date.day), "\(date)")
  }

  private static func cookieFile(_ bytes: [UInt8]) throws(BrokenRule) {
    let (cookies, problems) = NetscapeCookieText.decode(bytes, now: now)
    for problem in problems {
      try require(
        problem.reason.printable == problem.reason, "a reason cannot be shown: \(problem.reason.debugDescription)")
    }
    for cookie in cookies { try check(cookie) }
    let jar = CookieJar()
    jar.store(cookies)
    _ = jar.cookieHeader(for: WebURL(constant: "https://www.example.com/a/b"))
  }
}

extension Int64 {
  fileprivate func quotientRoundedDown(by divisor: Int64) -> Int64 {
    let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? quotient - 1 : quotient
  }
}
