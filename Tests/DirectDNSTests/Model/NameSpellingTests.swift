// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct NameSpellingTests {
  @Test(
    arguments: [
      ("xn--fsqu00a.xn--0zwm56d", "例子.测试"), ("www.xn--bcher-kva.example", "www.bücher.example"),
      ("XN--BCHER-KVA.example", "bücher.example"), ("www.example", nil), ("", nil), ("xn--", nil), ("xn--a", nil),
      ("xn--\u{e9}", nil), ("xn--zzzzzz.example", nil), ("a-xn--b.example", nil),
      ("xn--strae-oqa.example", "straße.example"),
      ("xn--bcher-kva.", "bücher."), ("xn--bcher-kva..example", "bücher..example"),
    ] as [(String, String?)])
  func `a name is spelled with the characters that it stands for`(_ name: String, _ spelled: String?) {
    #expect(NameSpelling.spelled(name) == spelled)
  }

  @Test(arguments: [
    ("xn--bcher-kva.example does not exist.", "bücher.example (xn--bcher-kva.example) does not exist."),
    ("Check xn--bcher-kva.example.", "Check bücher.example (xn--bcher-kva.example)."),
    ("xn--bcher-kva.example: refused", "bücher.example (xn--bcher-kva.example): refused"),
    ("\"xn--bcher-kva.example\"", "\"bücher.example (xn--bcher-kva.example)\""),
    (
      "TLS with https://xn--bcher-kva.example:8443 failed: x",
      "TLS with https://bücher.example:8443 (xn--bcher-kva.example) failed: x"
    ),
    ("https://xn--bcher-kva.example/a/b?c.", "https://bücher.example/a/b?c (xn--bcher-kva.example)."),
    ("xn--bcher-kva.a, xn--bcher-kva.b", "bücher.a (xn--bcher-kva.a), bücher.b (xn--bcher-kva.b)"),
    ("no name here ... at all.", "no name here ... at all."), ("xn--a. ... (x)", "xn--a. ... (x)"), ("", ""),
    ("...", "..."),
    ("bücher xn--bcher-kva ü", "bücher bücher (xn--bcher-kva) ü"),
  ])
  func `a text's names are spelled, and what DNS has stands behind them`(_ text: String, _ shown: String) {
    #expect(NameSpelling.shown(text) == shown)
    // An error's message may stand in another's.
    #expect(NameSpelling.shown(shown) == shown)
  }

  @Test func `errors and questions spell names`() throws {
    let name = try HostName("例子.测试")
    #expect(name.shown == "例子.测试 (xn--fsqu00a.xn--0zwm56d)" && name.spelled == "例子.测试")
    #expect(Sample.name("a.example").shown == "a.example")
    #expect(AddressQuestion(name, .ipv4).description == "例子.测试 (xn--fsqu00a.xn--0zwm56d) A")
    let error = DirectDNSError(
      .upstreamFailed, "\(name) failed", attempts: [.init(server: "one", reason: "asked for \(name)")])
    #expect(error.description == "\(name.shown) failed\n  one: asked for \(name.shown)")
  }
}
