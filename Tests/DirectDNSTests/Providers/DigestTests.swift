// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

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

  @Test func `two are equal when all their bytes are`() {
    #expect(Digest.areEqual([], []) && Digest.areEqual([1, 2], [1, 2]))
    #expect(!Digest.areEqual([1, 2], [1, 3]) && !Digest.areEqual([1, 2], [0, 2]) && !Digest.areEqual([1], [1, 2]))
  }
}
