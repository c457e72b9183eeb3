// SPDX-License-Identifier: Apache-2.0
import Crypto
import CryptoExtras
import FoundationEssentials

/// AES-128 as the providers use it: the IV stands in front of the ciphertext.
enum ProviderCipher {
  /// How blocks are chained.
  enum Mode: Int, Sendable {
    /// CBC with PKCS #7 padding and an IV of 16 bytes: EMAS's mode 1, and DNSPod's `aes`.
    case cbc = 1
    /// GCM with an IV of 12 bytes and a tag of 16: EMAS's mode 2.
    case gcm = 2
  }

  /// Encrypts under a random IV.
  static func seal(_ plain: [UInt8], mode: Mode, key: [UInt8]) throws -> [UInt8] {
    let key = SymmetricKey(data: key)
    switch mode {
    case .cbc:
      let iv = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
      return iv + Array(try AES._CBC.encrypt(plain, using: key, iv: AES._CBC.IV(ivBytes: iv)))
    case .gcm:
      let box = try AES.GCM.seal(plain, using: key)
      return Array(box.nonce) + Array(box.ciphertext) + Array(box.tag)
    }
  }

  /// Decrypts; throws when the key is wrong or the text was changed.
  static func open(_ sealed: [UInt8], mode: Mode, key: [UInt8]) throws -> [UInt8] {
    let key = SymmetricKey(data: key)
    switch mode {
    case .cbc:
      let iv = try AES._CBC.IV(ivBytes: sealed.prefix(16))
      return Array(try AES._CBC.decrypt(Array(sealed.dropFirst(16)), using: key, iv: iv))
    case .gcm: return Array(try AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: key))
    }
  }
}
