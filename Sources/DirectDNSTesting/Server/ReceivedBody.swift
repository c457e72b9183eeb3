// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import NIOCore

/// A request's body: its first bytes, and the length and the hash of all of it.
struct ReceivedBody: Sendable {
  /// The most bytes that are kept.
  private let limit: Int
  private let hasher = SHA256Stream()
  private(set) var kept: [UInt8] = []
  private(set) var length: Int64 = 0

  init(keeping limit: Int = .max) { self.limit = limit }

  /// SHA-256, as lower-case hexadecimal digits.
  var hash: String { Hex.encoded(hasher.digest) }

  mutating func append(_ buffer: ByteBuffer) {
    let bytes = Array(buffer.readableBytesView)
    length += Int64(bytes.count)
    hasher.update(bytes[...])
    kept += bytes.prefix(limit - kept.count)
  }
}
