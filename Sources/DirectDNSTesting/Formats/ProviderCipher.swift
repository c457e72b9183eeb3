// SPDX-License-Identifier: Apache-2.0
import CDirectDNSOpenSSL

/// AES-128 as the providers use it: the IV comes before the ciphertext.
enum ProviderCipher {
  /// How blocks are chained.
  enum Mode: Int, Sendable {
    /// CBC with PKCS #7 padding and an IV of 16 bytes: EMAS's mode 1, and DNSPod's `aes`.
    case cbc = 1
    /// GCM with an IV of 12 bytes and a tag of 16: EMAS's mode 2.
    case gcm = 2

    fileprivate var ivSize: Int { self == .cbc ? 16 : 12 }
    fileprivate var tagSize: Int { self == .cbc ? 0 : 16 }
    fileprivate var cipher: OpaquePointer? { unsafe self == .cbc ? EVP_aes_128_cbc() : EVP_aes_128_gcm() }
  }

  /// The key does not have the length for AES-128, the text was changed, or it is another key.
  struct Failure: Error {}

  /// Encrypts under a random IV.
  static func seal(_ plain: [UInt8], mode: Mode, key: [UInt8]) throws -> [UInt8] {
    let iv = (0..<mode.ivSize).map { _ in UInt8.random(in: .min ... .max) }
    var tag = [UInt8](repeating: 0, count: mode.tagSize)
    return iv + (try run(plain, mode: mode, key: key, iv: iv, tag: &tag, encrypting: true)) + tag
  }

  /// Decrypts; throws when the key is wrong or the text was changed.
  static func open(_ sealed: [UInt8], mode: Mode, key: [UInt8]) throws -> [UInt8] {
    guard sealed.count >= mode.ivSize + mode.tagSize else { throw Failure() }
    var tag = Array(sealed.suffix(mode.tagSize))
    let text = Array(sealed.dropFirst(mode.ivSize).dropLast(mode.tagSize))
    return try run(text, mode: mode, key: key, iv: Array(sealed.prefix(mode.ivSize)), tag: &tag, encrypting: false)
  }

  private static func run(
    _ text: [UInt8], mode: Mode, key: [UInt8], iv: [UInt8], tag: inout [UInt8], encrypting: Bool
  ) throws -> [UInt8] {
    guard key.count == 16, let context = unsafe EVP_CIPHER_CTX_new() else { throw Failure() }
    defer { unsafe EVP_CIPHER_CTX_free(context) }
    var made = [UInt8](repeating: 0, count: text.count + 16)
    var size: Int32 = 0
    var rest: Int32 = 0
    guard unsafe EVP_CipherInit_ex(context, mode.cipher, nil, key, iv, encrypting ? 1 : 0) == 1,
      unsafe EVP_CipherUpdate(context, &made, &size, text, Int32(text.count)) == 1
    else { throw Failure() }
    if mode == .gcm, !encrypting, unsafe directdns_gcm_expect_tag(context, Int32(tag.count), &tag) != 1 {
      throw Failure()
    }
    let done = unsafe made.withUnsafeMutableBufferPointer { buffer in
      unsafe EVP_CipherFinal_ex(context, buffer.baseAddress.map { unsafe $0 + Int(size) }, &rest)
    }
    guard done == 1 else { throw Failure() }
    if mode == .gcm, encrypting, unsafe directdns_gcm_tag(context, Int32(tag.count), &tag) != 1 { throw Failure() }
    return Array(made.prefix(Int(size + rest)))
  }
}
