// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct CookieTimeTests {
  @Test func `the earlier instant is the smaller one`() {
    #expect(CookieTime(secondsSince1970: -1) < CookieTime(secondsSince1970: 0))
    #expect(CookieTime.distantPast < CookieTime(secondsSince1970: 0))
  }

  @Test func `a sum stays within time`() {
    #expect(CookieTime(secondsSince1970: 5) + .milliseconds(2_900) == CookieTime(secondsSince1970: 7))
    #expect(CookieTime(secondsSince1970: 5) + .seconds(Int64.max) == CookieTime(secondsSince1970: .max))
    #expect(CookieTime(secondsSince1970: -5) + .seconds(Int64.min) == .distantPast)
  }
}
