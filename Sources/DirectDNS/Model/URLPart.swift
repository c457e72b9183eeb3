// SPDX-License-Identifier: Apache-2.0
/// The parts of a URL, as far as they differ in the bytes that may stand in them as they are.
///
/// This is ``PercentEncoding/EncodeSet`` turned round and put into constant memory: one load decides on a byte, and
/// a URL that needs no change is read at the speed of a scan. A test holds the table to the sets.
enum URLPart: UInt8, CaseIterable {
  /// What follows the `#`.
  case fragment = 1
  /// What follows the `?`.
  case query = 2
  /// A segment of the path: no slash either way.
  case segment = 4
  /// A name in lower case or a dotted quad: what neither IDNA nor the host parser would change.
  case host = 8

  /// Whether a byte may stand in this part as it is.
  @inline(__always)
  func keeps(_ byte: UInt8) -> Bool { byte < 0x80 && Self.table[Int(byte)] & rawValue != 0 }

  /// The position of the first byte from `start` on that may not stand in this part as it is.
  @inline(__always)
  func end(in text: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while index < text.count, keeps(text[index]) { index += 1 }
    return index
  }

  private static let table: InlineArray<128, UInt8> = [
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    //  !  "  #  $  %  &  '  (  )  *  +  ,  -   .   /
    0, 7, 0, 1, 7, 7, 7, 5, 7, 7, 7, 7, 7, 15, 15, 3,
    // 0 … 9 : ; < = > ?
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 7, 7, 0, 7, 0, 3,
    // @ A … O
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    // P … Z [ \ ] ^ _
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 3, 7, 3, 15,
    // ` a … o
    2, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
    // p … z { | } ~
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 3, 7, 3, 7, 0,
  ]
}
