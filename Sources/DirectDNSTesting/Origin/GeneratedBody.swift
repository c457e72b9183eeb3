// SPDX-License-Identifier: Apache-2.0
import DirectDNS

/// The bytes of bodies of any size, which need not be held in memory: each byte is its offset modulo 251.
///
/// A piece whose size is a power of two is never a multiple of the period, so that a lost or repeated one is noticed.
public enum GeneratedBody {
  /// The number of bytes after which the bytes repeat.
  public static let period = 251

  /// A part of the bytes.
  ///
  /// - Parameters:
  ///   - count: how many.
  ///   - offset: the offset of the first one.
  /// - Returns: the bytes.
  public static func bytes(_ count: Int, from offset: Int = 0) -> [UInt8] {
    (offset..<offset + count).map { UInt8($0 % period) }
  }

  /// SHA-256 of the first bytes, as lower-case hexadecimal digits, to be compared with ``RecordedRequest/bodyHash``.
  ///
  /// It takes about two seconds for each 5 GB.
  public static func hash(ofFirst count: Int) -> String {
    let piece = bytes(period * 1024)
    let hasher = SHA256Stream()
    var left = count
    while left > 0 {
      hasher.update(piece.prefix(left))
      left -= min(left, piece.count)
    }
    return Hex.encoded(hasher.digest)
  }
}
