// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct IDNATests {
  @Test(arguments: [
    ("müller.example", "xn--mller-kva.example"), ("MÜLLER.example", "xn--mller-kva.example"),
    ("mu\u{308}ller.example", "xn--mller-kva.example"), ("faß.example", "xn--fa-hia.example"),
    ("FAẞ.example", "xn--fa-hia.example"), ("例え。テスト", "xn--r8jz45g.xn--zckzah"),
    ("ｗｗｗ．example", "www.example"),
    ("a\u{AD}b.example", "ab.example"), ("💡.example", "xn--ds8h.example"), ("☕.example", "xn--53h.example"),
  ])
  func `an international label becomes the A-label that UTS 46 gives it`(_ text: String, _ ascii: String)
    throws
  {
    #expect(try IDNA.ascii(text) == ascii)
  }

  @Test(arguments: ["a--b", "ab--cd", "-a", "a-", "---", "a_b", "r2---sn-x", "a..b.", ""])
  func `a plain ASCII label never meets the rules about hyphens`(_ text: String) throws {
    #expect(try IDNA.ascii(text) == text)
  }

  @Test(arguments: [
    ("xn--mller-kva", "xn--mller-kva"), ("XN--MLLER-KVA", "xn--mller-kva"), ("xn--fa-hia", "xn--fa-hia"),
  ])
  func `an A-label that its own decoding is encoded to is kept`(_ text: String, _ ascii: String) throws {
    #expect(try IDNA.ascii(text) == ascii)
  }

  @Test(arguments: [
    "xn--", "xn--a", "xn--abc-", "xn--mller-kvb-", "xn--Mller-kv!", "xn--999999999", "xn--a\u{0}b",
    "ｘｎ－－mller-zz",
    "a\u{0}ü", "ü\u{0}b", "\u{308}a", "ü-", "-ü", "a\u{200D}b", "\u{FFFD}", "a\u{2024}b", "\u{E000}",
    "ü\u{202E}",
  ])
  func `a label that UTS 46 refuses, or that is in doubt, is refused`(_ text: String) {
    let error = #expect(throws: DirectDNSError.self) { try IDNA.ascii(text) }
    #expect(error?.code == .invalidName)
    #expect(error?.message.contains("international name") == true)
  }

  @Test func `an A-label of text that would be mapped is refused, lest two names be one`() {
    // The Punycode of "Ü": a capital letter, which UTS #46 maps to another label.
    #expect(throws: DirectDNSError.self) { try IDNA.ascii("xn--wca") }
    #expect(throws: DirectDNSError.self) { try IDNA.ascii("www.XN--WCA.example") }
  }

  @Test(arguments: [
    "a.א", "a1.א", "אב.גד", "ü.א", "א1.example", "ملف.example", "א٤.ü1", "ب٠.א1", "ü.ג׳", "אב\u{5B7}.ü", "ب1\u{64B}",
    "ب۴\u{64B}.ü",
  ])
  func `beside a right-to-left label others begin with a letter`(_ text: String) {
    #expect(throws: Never.self) { try IDNA.ascii(text) }
  }

  @Test(arguments: [
    "1a.א", "a-.א", "_a.א", "٠a", "אa", "1.xn--4db", "a.א.7b", "א1٠", "ü.ב٤2ב", "ب۴٤", "xn--0-zhc74b.ü",
    "א-\u{5B7}", "ب_\u{64B}", "ü.ב\u{5B0}_\u{5B0}\u{5B7}", "xn--_-0mc0i.ü",
  ])
  func `a name that bidi display would reorder is refused`(_ text: String) {
    #expect(throws: DirectDNSError.self) { try IDNA.ascii(text) }
  }

  @Test func `of a label that was not UTF-8 the refusal says so`() {
    let label = String(decoding: [0x62, 0xFC, 0x63, 0x68], as: UTF8.self)
    let error = #expect(throws: DirectDNSError.self) { try HostName("\(label).example") }
    #expect(error?.message.contains("stands for bytes that are not UTF-8") == true, "\(error?.message ?? "")")
  }

  @Test func `a label far too long is refused without being encoded`() {
    let error = #expect(throws: DirectDNSError.self) {
      try IDNA.ascii(String(repeating: "ü", count: 100_000))
    }
    #expect(error?.message.contains("too long") == true)
  }
}
