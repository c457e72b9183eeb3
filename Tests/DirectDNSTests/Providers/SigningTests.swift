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

struct DigestTests {
  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// FIPS 180-4's and RFC 1321's own examples.
  @Test func `SHA-256 and MD5 are those of their documents`() {
    #expect(
      hex(Digest.sha256(Array("abc".utf8))) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(hex(Digest.sha256([])) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(hex(Digest.md5(Array("message digest".utf8))) == "f96b697d7cb7938d525a2f31aaf161d0")
    #expect(hex(Digest.md5([])) == "d41d8cd98f00b204e9800998ecf8427e")
  }

  /// RFC 4231, test cases 1, 2 and 6: a key longer than a block is hashed first.
  @Test(
    arguments: [
      (
        [UInt8](repeating: 0x0B, count: 20), "Hi There",
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
      ),
      (
        Array("Jefe".utf8), "what do ya want for nothing?",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
      ),
      (
        [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
      ),
    ])
  func `HMAC with SHA-256 is that of RFC 4231`(key: [UInt8], text: String, expected: String) {
    #expect(hex(Digest.hmacSHA256(Array(text.utf8), key: key)) == expected)
  }

  @Test func `an empty key is one of zeros, whatever key was used before`() {
    _ = Digest.hmacSHA256([1], key: [1, 2, 3])
    #expect(
      hex(Digest.hmacSHA256([], key: [])) == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
  }

  @Test func `two are equal when all their bytes are, and one that could not be made is equal to none`() {
    #expect(Digest.areEqual([1, 2], [1, 2]) && !Digest.areEqual([], []) && !Digest.areEqual([], [1]))
    #expect(!Digest.areEqual([1, 2], [1, 3]) && !Digest.areEqual([1, 2], [0, 2]) && !Digest.areEqual([1], [1, 2]))
  }
}
