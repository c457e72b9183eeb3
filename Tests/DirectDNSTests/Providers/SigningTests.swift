// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct SigningTests {
  private let secret = Secret("00112233445566778899aabbccddeeff")

  @Test func `AliDNS signs account, secret, time, name and key id with SHA-256`() {
    let key = Signing.alidns(
      account: "100", keyID: "AKID", secret: "AKSECRET", time: 1_700_000_000, name: "www.example.com")
    #expect(key == "7b0ce017f0b9df9231c91ee319fb906e9974a02aa9cd4174764139914e3955cb")
  }

  @Test func `EMAS version 1 signs host, secret and expiry with MD5`() {
    #expect(
      Signing.emas1(host: "www.example.com", secret: secret, expiry: 1_700_000_600)
        == "4302f108f16d12f0a0fd181a20a9db98")
  }

  private let items = [
    ("dn", "www.example.com"), ("exp", "1700000600"), ("id", "100000"), ("m", "0"), ("q", "4,6"),
    ("v", "1.0"),
  ]

  @Test func `EMAS version 2 signs the sorted items with HMAC-SHA-256`() {
    let expected = "85a84cc69eac02a602dea38044f81632fe3256ab5e89a2760c512c4c4368a515"
    #expect(Signing.emas2(items: items, secret: secret) == expected)
    #expect(Signing.emas2(items: items.reversed(), secret: secret) == expected)
    #expect(Signing.emas2(items: items + [("cip", ""), ("tags", "")], secret: secret) == expected)
    #expect(Signing.emas2(items: items, secret: "00112233445566778899AABBCCDDEEFF") == expected)
  }

  @Test(arguments: ["", "0", "0g", "zz", "001", "00 1", "0x00"])
  func `a secret that is no hexadecimal text signs nothing`(_ text: String) {
    #expect(Signing.emas2(items: items, secret: Secret(text)) == nil)
    #expect(Signing.bytes(hex: text) == nil)
  }

  @Test func `hexadecimal digits are read in either case`() {
    #expect(Signing.bytes(hex: "00ffAbCd") == [0, 0xff, 0xab, 0xcd])
  }

  @Test func `each part of a signature changes it`() {
    let signatures: Set = [
      Signing.alidns(account: "1", keyID: "2", secret: "3", time: 4, name: "n"),
      Signing.alidns(account: "x", keyID: "2", secret: "3", time: 4, name: "n"),
      Signing.alidns(account: "1", keyID: "x", secret: "3", time: 4, name: "n"),
      Signing.alidns(account: "1", keyID: "2", secret: "x", time: 4, name: "n"),
      Signing.alidns(account: "1", keyID: "2", secret: "3", time: 5, name: "n"),
      Signing.alidns(account: "1", keyID: "2", secret: "3", time: 4, name: "x"),
    ]
    #expect(signatures.count == 6)
  }
}
