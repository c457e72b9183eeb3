// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct LooseDateTests {
  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
  ])
  func `each spelling of RFC 9110 is read`(_ text: String) {
    #expect(LooseDate(text).secondsSince1970 == 784_111_777)
  }

  @Test(arguments: ["", "tomorrow", "Sun, 31 Nov 1994 08:49:37 GMT", "06 Nov 1994", "06 Nov 1994 24:00:00 GMT"])
  func `what is no date of the calendar is none`(_ text: String) {
    #expect(LooseDate(text).secondsSince1970 == nil)
  }
}
