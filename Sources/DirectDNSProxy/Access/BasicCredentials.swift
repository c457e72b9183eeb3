// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A name and a password as `Proxy-Authorization: Basic` has them (RFC 7617).
struct BasicCredentials: Equatable {
  let name: String
  /// As bytes, since it need not be UTF-8: as text, different ones would be the same.
  let password: [UInt8]

  init(name: String, password: some Sequence<UInt8>) {
    self.name = name
    self.password = Array(password)
  }

  /// Reads a field's value; nil for another scheme, and if it is not the Base64 form of `name:password`.
  init?(_ value: Span<UInt8>) {
    var index = 0
    while index < value.count, value[index] != 0x20 { index += 1 }
    guard value.extracting(0..<index).isEqualIgnoringCase("basic") else { return nil }
    let encoded = value.trimmed(index..<value.count).map { value[$0] }
    guard let decoded = Data(base64Encoded: Data(encoded)), let colon = decoded.firstIndex(of: UInt8(ascii: ":")) else {
      return nil
    }
    name = String(decoding: decoded[..<colon], as: UTF8.self)
    password = Array(decoded[(colon + 1)...])
  }
}
