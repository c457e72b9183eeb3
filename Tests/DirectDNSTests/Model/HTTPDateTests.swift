// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct HTTPDateTests {
  @Test(
    arguments: [
      (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
      (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"), (-1, "Thu, 01 Jan 1970 00:00:00 GMT"),
    ] as [(Int64, String)])
  func `an instant is written as RFC 9110 has it`(seconds: Int64, text: String) {
    #expect(HTTPDate.text(secondsSince1970: seconds) == text)
  }

  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
  ])
  func `each spelling of RFC 9110 is read`(_ text: String) {
    #expect(HTTPDate.secondsSince1970(text) == 784_111_777)
  }

  @Test(arguments: ["", "tomorrow", "Sun, 31 Nov 1994 08:49:37 GMT", "06 Nov 1994", "06 Nov 1994 24:00:00 GMT"])
  func `what is no date of the calendar is none`(_ text: String) {
    #expect(HTTPDate.secondsSince1970(text) == nil)
  }
}
