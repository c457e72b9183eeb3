// SPDX-License-Identifier: Apache-2.0
/// Wraps bytes as a gzip file (RFC 1952) whose deflate blocks are stored, not compressed (RFC 1951 §3.2.4).
///
/// A client has to unpack it like any other, and making it needs no compression library.
enum Gzip {
  static func wrapped(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
    var start = 0
    repeat {
      let end = min(start + 0xffff, bytes.count)
      let count = UInt16(end - start)
      result.append(end == bytes.count ? 1 : 0)
      result += littleEndian(UInt32(count) | UInt32(~count) << 16)
      result += bytes[start..<end]
      start = end
    } while start < bytes.count
    return result + littleEndian(checksum(bytes)) + littleEndian(UInt32(truncatingIfNeeded: bytes.count))
  }

  /// CRC-32 with the reflected polynomial of RFC 1952 §8.
  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var crc = UInt32.max
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xedb8_8320 : crc >> 1 }
    }
    return ~crc
  }

  private static func littleEndian(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
  }
}
