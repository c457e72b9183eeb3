// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct HeadLineTests {
  @Test(arguments: [
    ("HTTP/2 200\r\n", 200), ("HTTP/1.1 404 Not Found\r\n", 404), ("HTTP/1.0 101", 101), ("HTTP/2 20\r\n", nil),
    ("HTTP/2", nil), ("HTTP/1.1  200 OK", nil), ("HTTP/1.1 2x0 OK", nil), ("", nil),
  ])
  func `a status is three digits behind the first blank`(_ line: String, _ status: Int?) {
    #expect(HeadLine.status(of: line.utf8.span) == status)
  }

  @Test(arguments: [
    ("Age: 3\r\n", "3"), ("AGE:3", "3"), ("age:\t 3 4 \t\r\n", "3 4"), ("age:\r\n", ""), ("age: ", ""),
    ("ages: 3", nil),
    ("ag: 3", nil), ("age", nil), ("age : 3", nil), (" age: 3", nil), ("", nil),
  ])
  func `a field is told by its name in any case, and its value has no blanks around it`(
    _ line: String, _ value: String?
  ) {
    let bytes = Array(line.utf8)
    #expect(HeadLine.isField("age", bytes.span) == (value != nil))
    guard let value else { return }
    #expect(HeadLine.text(bytes.span.extracting(HeadLine.value(of: bytes.span, behind: "age"))) == value)
  }

  @Test func `bytes that are no UTF-8 are no text`() {
    #expect(HeadLine.text([0x61, 0xc3, 0xa9].span) == "aé")
    #expect(HeadLine.text([0xff].span) == nil)
  }
}
