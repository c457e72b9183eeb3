// SPDX-License-Identifier: Apache-2.0
import CDirectDNSOpenSSL
import DirectDNS

/// SHA-256 of bytes that come in pieces; a class, so that copies share one state.
@safe final class SHA256Stream: Sendable {
  private let context: Locked<OpaquePointer>

  init() {
    guard let context = unsafe EVP_MD_CTX_new(), unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
      // Every OpenSSL has it; without the right to use it, or without memory, no test can run.
      preconditionFailure("OpenSSL has no SHA-256")
    }
    unsafe self.context = Locked(context)
  }

  deinit { unsafe context.withLock { unsafe EVP_MD_CTX_free($0) } }

  func update(_ bytes: ArraySlice<UInt8>) {
    unsafe bytes.withUnsafeBytes { bytes in
      _ = unsafe context.withLock { unsafe EVP_DigestUpdate($0, bytes.baseAddress, bytes.count) }
    }
  }

  /// The hash of what has come so far.
  var digest: [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
      // Only a copy is finished, since more bytes may come.
      let copy = unsafe EVP_MD_CTX_new()
      _ = unsafe context.withLock { unsafe EVP_MD_CTX_copy_ex(copy, $0) }
      unsafe EVP_DigestFinal_ex(copy, buffer.baseAddress, nil)
      unsafe EVP_MD_CTX_free(copy)
      count = 32
    }
  }
}
