// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct LineReaderTests {
  private func lines(_ pieces: String...) -> [LineReader.Line] {
    var reader = LineReader()
    return pieces.flatMap { reader.feed(Array($0.utf8)) } + [reader.finish()].compactMap(\.self)
  }

  private func hosts(_ pieces: String...) -> [String] {
    var reader = LineReader()
    let lines = pieces.flatMap { reader.feed(Array($0.utf8)) } + [reader.finish()].compactMap(\.self)
    return lines.filter { $0.fault == nil }.map(\.text)
  }

  @Test(arguments: [
    ("a.example\nb.example\n", ["a.example", "b.example"]),
    ("a.example\r\nb.example\r\n", ["a.example", "b.example"]),
    ("a.example\nb.example", ["a.example", "b.example"]),
    ("\n\n  a.example \t\n\r\n \n", ["a.example"]),
    ("# all\na.example # one\n#\n  # more\nb.example#two\n", ["a.example", "b.example"]),
    ("\u{FEFF}a.example\n", ["a.example"]),
    ("bücher.example\n", ["bücher.example"]),
    ("a.example b.example\n", ["a.example b.example"]),
    ("", []),
  ])
  func `a list has one host a line, comments, blank lines and either line end`(_ text: String, _ expected: [String]) {
    #expect(hosts(text) == expected)
  }

  @Test func `a list may be cut anywhere`() {
    let text = "a.example\r\n# comment\nbücher.example\n"
    let whole = lines(text)
    var reader = LineReader()
    let cut = text.utf8.flatMap { reader.feed([$0]) }
    #expect(cut == whole)
    #expect(whole.map(\.number) == [1, 3])
  }

  @Test func `lines are counted as an editor counts them`() {
    #expect(lines("\n# x\na.example\n\nb.example").map(\.number) == [3, 5])
  }

  @Test func `a line that is too long or no UTF-8 is told and hides no other`() {
    var reader = LineReader()
    let long = Array(String(repeating: "a", count: 5000).utf8)
    let found = reader.feed(long + [10, 0xff, 0xfe, 10] + Array("b.example\n".utf8))
    #expect(found.map(\.number) == [1, 2, 3])
    #expect(
      found.map(\.fault) == ["the line is longer than 4096 bytes", "the line is not UTF-8", nil])
    #expect(found.map(\.text) == [String(repeating: "a", count: 4096), "\u{fffd}\u{fffd}", "b.example"])
  }

  @Test func `other text has its own limit, and no comments`() {
    var reader = LineReader(limit: 8, hasComments: false)
    let found = reader.feed(Array("# a\n12345678\n123456789\n \n".utf8))
    #expect(found.map(\.text) == ["# a", "12345678", "12345678"])
    #expect(found.map(\.fault) == [nil, nil, "the line is longer than 8 bytes"])
  }

  @Test func `a long comment is a comment`() {
    #expect(
      hosts("a.example # " + String(repeating: "x", count: 5000) + "\nb.example\n") == ["a.example", "b.example"])
  }
}
