// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

extension HeadLines {
  /// The lines of a text, each with its end.
  init(text bytes: [UInt8]) {
    self.init()
    for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast() { append(line + [0x0A]) }
    if let last = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).last, !last.isEmpty { append(last) }
  }

  init(text: String) { self.init(text: Array(text.utf8)) }
}

struct HeadLinesTests {
  private func lines(_ fields: String...) -> HeadLines {
    HeadLines(text: "HTTP/1.1 200 OK\r\n" + fields.map { $0 + "\r\n" }.joined())
  }

  @Test func `lines are kept as they came`() {
    let text = "HTTP/1.1 200 OK\r\nA: 1\r\n\t2\r\nno colon\n"
    #expect(HeadLines(text: text).bytes == Array(text.utf8))
  }

  @Test(arguments: ["Set-Cookie", "LOCATION", "location", "content-Location", "Content-Location", "Refresh", "refresh"])
  func `fields in which an address can stand for the name are told, in any spelling`(_ name: String) {
    #expect(lines("A: 1", "\(name): 2", "B: 3").hasRestorableField)
    #expect(lines("\(name):").hasRestorableField)
  }

  @Test(arguments: [
    "Locations: 1", "Locatio: 1", "Location : 1", " Location: 1", "X-Location: 1", "Date: 2", "Location",
    "Refreshed: 1",
    "Content-Locations: 1", "set-cookie2: 1",
  ])
  func `other fields need no restoring`(_ line: String) { #expect(!lines(line).hasRestorableField) }

  @Test(arguments: [
    ["Content-Length: 0"], ["content-length:5"], ["CONTENT-LENGTH: \t5 \t"],
    ["Content-Length: 5", "content-length: 5"],
    ["Content-Length: 05", "Content-Length: 5"], ["Content-Length: 922337203685477579"], [], ["Content-Length : x"],
    ["Content-Lengths: x"], ["Content-Length: x", "Transfer-Encoding: chunked"],
    ["transfer-encoding:"], ["Transfer-Encoding: identity"], ["Transfer-Encoding: Chunked "],
    ["Transfer-Encoding: ,chunked, "], ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
    ["Transfer-Encoding: identity, chunked", "Content-Length: 5"],
    ["Transfer-Encoding: chunked", "Transfer-Encoding: identity", "Content-Length: 5"],
  ])
  func `a body's length is known, or nobody says it`(_ fields: [String]) {
    #expect(HeadLines(text: fields.map { $0 + "\r\n" }.joined()).hasSoundLength)
  }

  @Test(arguments: [
    ["Content-Length: 5", "Content-Length: 6"], ["Content-Length: +5"], ["Content-Length: 5, 5"], ["Content-Length: "],
    ["Content-Length:"], ["Content-Length: 0x5"], ["Content-Length: 99999999999999999999"],
    ["Content-Length: x", "Content-Length: 5"], ["Content-Length: 5", "Content-Length: x"],
    ["Content-Length: x", "Transfer-Encodings: chunked"],
  ])
  func `a length with two values or none that is a number is no length`(_ fields: [String]) {
    #expect(!HeadLines(text: fields.map { $0 + "\r\n" }.joined()).hasSoundLength)
  }

  @Test(arguments: [
    ["Transfer-Encoding: gzip"], ["Transfer-Encoding: gzip, chunked"], ["transfer-encoding: chunked,GZIP"],
    ["Transfer-Encoding: gzip", "Transfer-Encoding: chunked"], ["Transfer-Encoding: chunked", "Transfer-Encoding: x"],
    ["Transfer-Encoding: xchunked"], ["Transfer-Encoding: chunked;a=b"],
    ["Transfer-Encoding: br", "Content-Length: 5"],
  ])
  func `of a coding that no request asks for, nobody knows where it ends`(_ fields: [String]) {
    #expect(!HeadLines(text: fields.map { $0 + "\r\n" }.joined()).hasSoundLength)
  }

  @Test(arguments: [
    ["Transfer-Encoding: identity", "Content-Length: 5"], ["Content-Length: 5", "transfer-encoding:"],
    ["transfer-encoding:", "Content-Length: "], ["Transfer-Encoding: gzip", "Content-Length: 5"],
    ["Transfer-Encoding: identity", "Content-Length: 5", "Content-Length: 6"],
  ])
  func `a length beside a coding that is none, or unknown, may not be the body's`(_ fields: [String]) {
    #expect(!HeadLines(text: fields.map { $0 + "\r\n" }.joined()).hasSoundLength)
  }

  @Test func `a line without a byte is none`() {
    var lines = HeadLines()
    lines.append([])
    #expect(lines.bytes.isEmpty && lines.hasSoundLength)
  }
}

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
