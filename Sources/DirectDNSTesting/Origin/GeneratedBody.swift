// SPDX-License-Identifier: Apache-2.0
/// Bytes for bodies of any size that nobody has to hold: each is its place modulo 251.
///
/// No power of two divides the period, so that a lost or doubled piece shows.
public enum GeneratedBody {
  /// After how many bytes it begins again.
  public static let period = 251

  /// Some of its bytes.
  ///
  /// - Parameters:
  ///   - count: how many.
  ///   - offset: the place of the first one.
  /// - Returns: the bytes.
  public static func bytes(_ count: Int, from offset: Int = 0) -> [UInt8] {
    (offset..<offset + count).map { UInt8($0 % period) }
  }

  /// SHA-256 of its first bytes, as lower-case hexadecimal digits: what ``RecordedRequest/bodyHash`` is compared with.
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
    return HexText.encode(hasher.digest)
  }
}
