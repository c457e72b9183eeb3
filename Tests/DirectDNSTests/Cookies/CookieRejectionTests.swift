// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct CookieRejectionTests {
  @Test(arguments: [
    "secret=secret; domain=b.example", "__Host-x=secret", "a=secret\u{1}", "a=secret; domain=com",
    "a=" + String(repeating: "secret", count: 700),
  ])
  func `a reason never shows the cookie's value`(_ field: String) {
    let error = #expect(throws: CookieRejection.self) {
      try Cookie(setCookie: field, for: Sample.url("https://www.a.com/"), now: Sample.now)
    }
    #expect(error.map { "\($0)" }?.contains("secret") == false)
  }

  @Test func `a reason shows the domain with its invisible characters escaped`() {
    #expect("\(CookieRejection.foreignDomain("b\u{202E}.example"))".contains("u{202E}"))
  }
}
