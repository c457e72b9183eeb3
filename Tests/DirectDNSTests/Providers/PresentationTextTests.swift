// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct PresentationTextTests {
  @Test(
    arguments: [
      ("", []), ("  ", []), ("10 mail.example.", ["10", "mail.example."]), (#""a b" "c""#, ["a b", "c"]),
      (#""a""b""#, ["a", "b"]), (#"key="a b" next"#, ["key=a b", "next"]), (#""""#, [""]), (#"a\ b\034c"#, [#"a b"c"#]),
      (#""\"\\""#, [#""\"#]), ("a\tb", ["a", "b"]), (#"key="""#, ["key="]),
    ] as [(String, [String])])
  func `a text is words between spaces, with quotes and escapes undone`(_ text: String, _ words: [String]) {
    #expect(PresentationText.words(text)?.map { String(decoding: $0.bytes, as: UTF8.self) } == words)
  }

  @Test(arguments: [#""open"#, #"\"#, #"\1"#, #"\25"#, #"\256"#, #"\9a9"#, #"a "b"#])
  func `an open quote and an escape that is none make no words`(_ text: String) {
    #expect(PresentationText.words(text) == nil)
  }

  @Test func `a name keeps its escapes, in which a dot is no dot`() {
    #expect(PresentationText.words(#"a\.b.example."#)?.first?.name?.labels.first == Array("a.b".utf8))
  }

  @Test(
    arguments: [
      ("", #""""#), ("v=spf1 -all", #""v=spf1 -all""#), (#"a"b\c;"#, #""a\"b\\c;""#),
      ("\u{1}\n\u{7f}", #""\001\010\127""#),
      ("é", #""\195\169""#),
    ])
  func `a string stands in quotes, and is printable ASCII whatever it holds`(_ text: String, _ quoted: String) {
    #expect(PresentationText.quoted(text.utf8) == quoted)
    #expect(PresentationText.words(quoted)?.map(\.bytes) == [Array(text.utf8)])
  }

  @Test(
    arguments: [([], "\\# 0"), ([10, 0, 0, 1], "\\# 4 0A000001"), ([0xff], "\\# 1 FF")] as [([UInt8], String)])
  func `what has no form of its own is its length and its bytes (RFC 3597 §5)`(_ bytes: [UInt8], _ text: String) {
    #expect(PresentationText.generic(bytes) == text)
    #expect(PresentationText.bytes(generic: text) == bytes)
  }

  @Test func `the digits may stand in several words, in either case`() {
    #expect(PresentationText.bytes(generic: ##"\# 4 0a 0000 01"##) == [10, 0, 0, 1])
    #expect(PresentationText.bytes(generic: ##"\#  2  AB cd "##) == [0xab, 0xcd])
  }

  @Test(arguments: [
    ##"\# 4 0A0000"##, ##"\# 3 0A00000"##, ##"\# x 00"##, ##"\# -1"##, ##"\# 1 0g"##, ##"\#"##, "10 mail.",
    ##"\# 99999999999999999999 00"##,
    ##"\# 9223372036854775807 00"##,
  ])
  func `a length that is not that of the bytes is none`(_ text: String) {
    #expect(PresentationText.bytes(generic: text) == nil)
  }
}
