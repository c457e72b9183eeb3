// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Testing

@testable import DirectDNS

struct CookieTimeTests {
  @Test func `the present is what a clock shows, in whole seconds`() {
    let clock = ManualClock(secondsSince1970: 7)
    clock.advance(by: .milliseconds(1_900))
    #expect(CookieTime(clock) == CookieTime(secondsSince1970: 8))
    #expect(CookieTime() > CookieTime(secondsSince1970: 1_700_000_000))
  }

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

struct CookieDateTests {
  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    "08:49:37 6 november 1994", "1994 nov 6th 8:49:37", "6,NOV;94\t08:49:37zone +0900", "06 Nov 94 08:49:37 07:00:00",
    "x y 6 Nov 1994 8:49:37", "06 Nov 1994 08:49:37:00",
  ])
  func `a date is read however it is spelled, and is UTC`(_ text: String) {
    #expect(CookieTime(cookieDate: text)?.secondsSince1970 == 784_111_777)
  }

  @Test(arguments: [
    ("01 Jan 1970 00:00:00", 0), ("31 Dec 1969 23:59:59", -1), ("29 Feb 2000 00:00:00", 951_782_400),
    ("29 Feb 2024 12:00:00", 1_709_208_000), ("01 Mar 1900 00:00:00", -2_203_891_200),
    ("01 Jan 1601 00:00:00", -11_644_473_600), ("31 Dec 9999 23:59:59", 253_402_300_799),
    ("01 Jan 69 00:00:00", 3_124_224_000), ("01 Jan 70 00:00:00", 0), ("01 Jan 99 00:00:00", 915_148_800),
  ])
  func `the calendar is the Gregorian one, and two digits of a year mean 1970 to 2069`(_ text: String, _ seconds: Int64)
  {
    #expect(CookieTime(cookieDate: text)?.secondsSince1970 == seconds)
  }

  @Test(arguments: [
    "", "GMT", "06 Nov 1994", "06 Nov 08:49:37", "Nov 1994 08:49:37", "06 1994 08:49:37", "00 Nov 1994 08:49:37",
    "31 Nov 1994 08:49:37", "32 Dec 1994 08:49:37", "29 Feb 1900 00:00:00", "29 Feb 2023 00:00:00",
    "01 Jan 1600 00:00:00", "06 Nov 1994 24:00:00", "06 Nov 1994 08:60:00", "06 Nov 1994 08:49:60",
    "06 Nov 1994 08:49", "06 Nov 1994 008:49:37", "06 Nov 1994 08:49:373", "006 Nov 19944 08:49:37",
    "06 No 1994 08:49:37",
    "06 Nov 5 08:49:37", "01 Jan 100 00:00:00", "06 Nov 1994 08::49:37", "06 Nov 1994 8x:49:37",
  ])
  func `what lacks a part or does not exist is no date`(_ text: String) {
    #expect(CookieTime(cookieDate: text) == nil)
  }
}
