import Testing

@testable import DirectDNS

struct HostListReaderTests {
  private func lines(_ pieces: String...) -> [HostListReader.Line] {
    var reader = HostListReader()
    return pieces.flatMap { reader.feed(Array($0.utf8)) } + [reader.finish()].compactMap(\.self)
  }

  private func hosts(_ pieces: String...) -> [String] {
    var reader = HostListReader()
    let lines = pieces.flatMap { reader.feed(Array($0.utf8)) } + [reader.finish()].compactMap(\.self)
    return lines.compactMap { if case .host(let text) = $0.content { text } else { nil } }
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
    var reader = HostListReader()
    let cut = text.utf8.flatMap { reader.feed([$0]) }
    #expect(cut == whole)
    #expect(whole.map(\.number) == [1, 3])
  }

  @Test func `lines are counted as an editor counts them`() {
    #expect(lines("\n# x\na.example\n\nb.example").map(\.number) == [3, 5])
  }

  @Test func `a line that is too long or no UTF-8 is told and hides no other`() {
    var reader = HostListReader()
    let long = Array(String(repeating: "a", count: 5000).utf8)
    let found = reader.feed(long + [10, 0xff, 0xfe, 10] + Array("b.example\n".utf8))
    #expect(found.map(\.number) == [1, 2, 3])
    #expect(
      found.map(\.content) == [
        .unreadable("the line is longer than 4096 bytes"), .unreadable("the line is not UTF-8"), .host("b.example"),
      ])
  }

  @Test func `a long comment is a comment`() {
    #expect(
      hosts("a.example # " + String(repeating: "x", count: 5000) + "\nb.example\n") == ["a.example", "b.example"])
  }
}
