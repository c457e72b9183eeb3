// SPDX-License-Identifier: Apache-2.0
import DirectDNS

/// The signatures that the providers check, written from their documentation and independently of the library's.
enum ProviderSignature {
  /// AliDNS `key`: SHA-256 over account, secret, time, name and AccessKey ID, without separators.
  static func alidns(account: AliDNSAccount, timestamp: String, name: String) -> String {
    let text = account.id + account.accessKeySecret + timestamp + name + account.accessKeyID
    return Hex.encoded(Digest.sha256(Array(text.utf8)))
  }

  /// EMAS v1 `s`: MD5 over the host list, the secret and the expiry, joined by hyphens.
  static func emas(hosts: String, secret: String, expiry: String) -> String {
    Hex.encoded(Digest.md5(Array("\(hosts)-\(secret)-\(expiry)".utf8)))
  }

  /// EMAS v2 `s`: HMAC-SHA256 over the signed parameters, sorted and joined like a query, un-encoded.
  static func emasV2(_ items: [QueryItem], secret: String) -> String? {
    guard let key = Hex.decoded(secret.utf8) else { return nil }
    let signed: Set = ["id", "m", "dn", "cip", "q", "enc", "exp", "tags", "v"]
    let text =
      items
      .filter { (signed.contains($0.name) || $0.name.hasPrefix("sdns-")) && !$0.value.isEmpty }
      .sorted { Array($0.name.utf8).lexicographicallyPrecedes(Array($1.name.utf8)) }
      .map { "\($0.name)=\($0.value)" }
      .joined(separator: "&")
    return Hex.encoded(Digest.hmacSHA256(Array(text.utf8), key: key))
  }
}
