// SPDX-License-Identifier: Apache-2.0
/// The signatures of the vendors' APIs, each a pure function.
enum Signing {
  /// AliDNS: hex(SHA-256(uid ‖ secret ‖ ts ‖ name ‖ ak)).
  static func alidns(account: String, keyID: String, secret: Secret, time: Int64, name: String) -> String {
    hex(Digest.sha256(Array((account + secret.text + String(time) + name + keyID).utf8)))
  }

  /// EMAS v1: hex(MD5(host - secret - t)).
  ///
  /// The vendor's choice of hash, not ours.
  static func emas1(host: String, secret: Secret, expiry: Int64) -> String {
    hex(Digest.md5(Array("\(host)-\(secret.text)-\(expiry)".utf8)))
  }

  /// EMAS v2: hex(HMAC-SHA-256(hex-decoded secret, the sorted items)).
  ///
  /// - Returns: nil if the secret is no hexadecimal text.
  static func emas2(items: [(String, String)], secret: Secret) -> String? {
    guard let key = bytes(hex: secret.text) else { return nil }
    let text = items.filter { !$0.1.isEmpty }.sorted { $0.0 < $1.0 }.map { "\($0.0)=\($0.1)" }.joined(separator: "&")
    return hex(Digest.hmacSHA256(Array(text.utf8), key: key))
  }

  static func bytes(hex: String) -> [UInt8]? {
    let digits = hex.utf8.map(ASCII.hexValue)
    guard digits.count.isMultiple(of: 2), !digits.isEmpty else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index], let low = digits[index + 1] else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.flatMap { [ASCII.hexDigit($0 >> 4), ASCII.hexDigit($0 & 15)] }, as: UTF8.self)
  }
}
