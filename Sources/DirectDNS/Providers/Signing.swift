// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSOpenSSL

/// The signatures of the vendors' APIs, each a pure function.
enum Signing {
  /// AliDNS: hex(SHA-256(uid ‖ secret ‖ ts ‖ name ‖ ak)).
  static func alidns(account: String, keyID: String, secret: Secret, time: Int64, name: String) -> String {
    Hex.encoded(Digest.sha256(Array((account + secret.text + String(time) + name + keyID).utf8)))
  }

  /// EMAS v1: hex(MD5(host - secret - t)).
  ///
  /// The vendor's choice of hash, not ours.
  static func emas1(host: String, secret: Secret, expiry: Int64) -> String {
    Hex.encoded(Digest.md5(Array("\(host)-\(secret.text)-\(expiry)".utf8)))
  }

  /// EMAS v2: hex(HMAC-SHA-256(hex-decoded secret, the sorted items)).
  ///
  /// - Returns: the signature; nil if the secret is not hexadecimal.
  static func emas2(items: [(String, String)], secret: Secret) -> String? {
    guard let key = bytes(hex: secret.text) else { return nil }
    let text = items.filter { !$0.1.isEmpty }.sorted { $0.0 < $1.0 }.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    return Hex.encoded(Digest.hmacSHA256(Array(text.utf8), key: key))
  }

  /// The bytes of a secret in hexadecimal digits; nil if it is empty or not hexadecimal.
  static func bytes(hex: String) -> [UInt8]? { Hex.decoded(hex.utf8).flatMap { $0.isEmpty ? nil : $0 } }
}

/// The hashes of the vendors' signatures, by OpenSSL's libcrypto, which libcurl has loaded already.
package enum Digest {
  /// 32 bytes.
  package static func sha256(_ bytes: [UInt8]) -> [UInt8] { unsafe digest(bytes, EVP_sha256()) }

  /// 16 bytes; only for vendors that require it, since MD5 is broken.
  package static func md5(_ bytes: [UInt8]) -> [UInt8] { unsafe digest(bytes, EVP_md5()) }

  /// RFC 2104 with SHA-256: 32 bytes.
  package static func hmacSHA256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    // Without a key HMAC would use that of its last call; a zero byte is the same as an empty key.
    let key = key.isEmpty ? [0] : key
    return unsafe [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
      let made = unsafe HMAC(EVP_sha256(), key, Int32(key.count), bytes, bytes.count, buffer.baseAddress, nil)
      // The memory has not been written otherwise, and would be sent as a signature.
      precondition(unsafe made != nil, "OpenSSL has no HMAC with SHA-256")
      count = 32
    }
  }

  /// Whether two are equal; the time it takes does not depend on how much of them is equal.
  ///
  /// One that is empty could not be made, and is equal to none: two passwords would be taken for the same.
  package static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    !one.isEmpty && one.count == other.count && zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  private static func digest(_ bytes: [UInt8], _ kind: OpaquePointer?) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
      var size: UInt32 = 0
      // It fails if the system's policy (FIPS) forbids a hash, or without memory; then the hash is empty, which no
      // vendor accepts.
      let made = unsafe EVP_Digest(bytes, bytes.count, buffer.baseAddress, &size, kind, nil)
      count = made == 1 ? Int(size) : 0
    }
  }
}
