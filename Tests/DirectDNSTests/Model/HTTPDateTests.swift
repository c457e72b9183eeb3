// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

struct HTTPDateTests {
  @Test(
    arguments: [
      (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
      (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"), (-1, "Thu, 01 Jan 1970 00:00:00 GMT"),
    ] as [(Int64, String)])
  func `an instant is written as RFC 9110 has it`(seconds: Int64, text: String) {
    #expect(HTTPDate.text(secondsSince1970: seconds) == text)
  }
}
