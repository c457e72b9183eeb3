// SPDX-License-Identifier: Apache-2.0
/// A path segment that moves instead of naming something (WHATWG URL §4.1, "single-dot" and "double-dot").
enum DotSegment {
  case current
  case parent

  /// Recognises `.` and `..`, each dot also written `%2e`.
  init?(_ segment: Span<UInt8>) {
    var dots = 0
    var index = 0
    while index < segment.count, dots <= 2 {
      if segment[index] == ASCII.dot {
        index += 1
      } else if segment[index] == ASCII.percent, index + 2 < segment.count,
        segment[index + 1] == UInt8(ascii: "2"), segment[index + 2] | 0x20 == UInt8(ascii: "e")
      {
        index += 3
      } else {
        return nil
      }
      dots += 1
    }
    switch dots {
    case 1: self = .current
    case 2: self = .parent
    default: return nil
    }
  }
}
