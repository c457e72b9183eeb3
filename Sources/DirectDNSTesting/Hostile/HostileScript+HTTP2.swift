// SPDX-License-Identifier: Apache-2.0
/// HTTP/2 that is nearly right (RFC 9113, RFC 7541).
extension HostileScript {
  /// A frame of any type; its length may be a wrong one.
  static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt32, _ payload: [UInt8] = [], length: Int? = nil)
    -> [UInt8]
  {
    let length = length ?? payload.count
    return [
      UInt8(truncatingIfNeeded: length >> 16), UInt8(truncatingIfNeeded: length >> 8),
      UInt8(truncatingIfNeeded: length),
    ]
      + [type, flags] + word(stream) + payload
  }

  private static func word(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt32(24 - 8 * $0)) }
  }

  /// A literal field without indexing and without Huffman coding.
  private static func field(_ name: String, _ value: String) -> [UInt8] {
    [0] + string(name) + string(value)
  }

  private static func string(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
    var rest = bytes.count - 127
    var length: [UInt8] = [127]
    while rest >= 128 {
      length.append(UInt8(rest & 127) | 128)
      rest >>= 7
    }
    return length + [UInt8(rest)] + bytes
  }

  private static let values: [UInt32] = [
    0, 1, 2, 16_383, 16_384, 65_535, 16_777_215, 16_777_216, 0x7fff_ffff, 0x8000_0000, .max,
  ]

  private static func settings(_ dice: inout Dice) -> [UInt8] {
    (0..<dice.number(below: 4)).flatMap { _ in
      [0, UInt8(dice.one(of: [0, 1, 2, 3, 4, 5, 6, 8, 255]))] + word(dice.one(of: values))
    }
  }

  private static func fields(_ content: Content, _ dice: inout Dice) -> [UInt8] {
    var block =
      dice.chance(6)
      ? field(":status", dice.one(of: ["204", "304", "302", "100", "103", "099", "1000", "", "2e2", "429", "503"]))
      : [0x88]
    if !dice.chance(8) { block += field("content-type", content.type) }
    let more: [(String, [String])] = [
      ("content-length", ["5", "6", "0", "-1", "18446744073709551616", "x"]), (":status", ["200"]), (":path", ["/"]),
      ("Upper", ["x"]),
      ("connection", ["close"]), ("transfer-encoding", ["chunked"]), ("te", ["gzip"]),
      ("x-a", ["\r\n", "\u{0}", " x ", String(repeating: "y", count: 20_000)]),
      ("", ["x"]), ("a b", ["x"]), ("set-cookie", ["a=b", ""]), ("location", ["/", "http://127.0.0.1:1/"]),
      ("content-encoding", ["gzip"]),
    ]
    for _ in 0..<dice.one(of: [0, 0, 1, 2]) {
      let (name, values) = dice.one(of: more)
      block += field(name, dice.one(of: values))
    }
    if dice.chance(10) {
      block += dice.one(of: [
        [0x80], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff], [0x3f, 0xe1, 0xff, 0xff, 0xff, 0x0f], [0xbe],
        [0x00, 0x85, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00],
        [0x40, 0x7f, 0x80], dice.bytes(upTo: 20),
      ])
    }
    return block
  }

  static func http2(_ content: Content, isFirst: Bool, stream: UInt32, _ dice: inout Dice) -> [Step] {
    var bytes: [UInt8] = []
    if isFirst, !dice.chance(20) { bytes += frame(4, stream: 0, dice.chance(2) ? [] : settings(&dice)) }
    if isFirst { bytes += frame(4, flags: 1, stream: 0) }
    if dice.chance(30) { return [.send(bytes), .endless(flood(stream, &dice))] }
    for _ in 0..<dice.one(of: [0, 0, 1, 2]) { bytes += any(stream, content, &dice) }
    let hasNoBody = dice.chance(10)
    bytes += frame(1, flags: (dice.chance(12) ? 0 : 4) | (hasNoBody ? 1 : 0), stream: stream, fields(content, &dice))
    for _ in 0..<dice.one(of: [0, 0, 1, 2]) { bytes += any(stream, content, &dice) }
    if !hasNoBody {
      let last: UInt8 = dice.chance(10) ? 0 : 1
      bytes += frame(0, flags: last, stream: stream, content.bytes)
    }
    for _ in 0..<dice.one(of: [0, 0, 0, 1, 3]) { bytes += any(stream, content, &dice) }
    return [.send([])] + staged(bytes, &dice)
  }

  /// Frames that cost the receiver more than the sender, repeated.
  private static func flood(_ stream: UInt32, _ dice: inout Dice) -> [UInt8] {
    let kind: [UInt8] =
      switch dice.number(below: 9) {
      case 0: frame(4, stream: 0)
      case 1: frame(6, stream: 0, Array(repeating: 0, count: 8))
      case 2: frame(0, stream: stream)
      case 3: frame(0, stream: stream, Array(repeating: 0x78, count: 16_384))
      case 4: frame(9, stream: stream, field("x-a", "b"))
      case 5: frame(8, stream: 0, word(1))
      case 6: frame(2, stream: stream, word(0) + [0])
      case 7: frame(0xfa, stream: stream, Array(repeating: 0, count: 100))
      default: frame(1, flags: 4, stream: stream, field(":status", "103") + field("link", "x"))
      }
    let opening = kind[3] == 9 ? frame(1, stream: stream, [0x88]) : []
    return opening + Array(repeatElement(kind, count: max(1, 16_384 / kind.count)).joined())
  }

  /// Any frame, even where it is not allowed.
  private static func any(_ stream: UInt32, _ content: Content, _ dice: inout Dice) -> [UInt8] {
    let other = dice.one(of: [0, stream, stream, stream, stream &+ 2, 2, 0x7fff_ffff, 0x8000_0001])
    let flags = UInt8(dice.one(of: [0, 1, 4, 5, 8, 9, 0x20, 0x2c, 0xff]))
    switch dice.number(below: 12) {
    case 0:
      return frame(0, flags: flags, stream: other, dice.one(of: [[], [255], content.bytes, dice.bytes(upTo: 50)]))
    case 1: return frame(1, flags: flags, stream: other, fields(content, &dice))
    case 2: return frame(2, stream: other, dice.one(of: [word(other) + [255], word(0), []]))
    case 3: return frame(3, stream: other, dice.one(of: [word(UInt32(dice.number(below: 20))), word(.max), [], [0]]))
    case 4: return frame(4, flags: dice.one(of: [0, 1]), stream: dice.chance(5) ? stream : 0, settings(&dice))
    case 5: return frame(5, flags: 4, stream: other, word(dice.one(of: [0, 2, 4, stream])) + fields(content, &dice))
    case 6:
      return frame(
        6, flags: dice.one(of: [0, 1]), stream: dice.chance(5) ? stream : 0,
        Array(repeating: 7, count: dice.one(of: [8, 8, 7, 9, 0])))
    case 7:
      return frame(
        7, stream: dice.chance(5) ? stream : 0,
        word(dice.one(of: [0, stream, 0x7fff_ffff])) + word(UInt32(dice.number(below: 15))) + dice.bytes(upTo: 30))
    case 8: return frame(8, stream: dice.one(of: [0, stream, other]), word(dice.one(of: values)))
    case 9: return frame(9, flags: flags, stream: other, fields(content, &dice))
    case 10:
      return frame(UInt8(dice.one(of: [10, 11, 12, 0x10, 0xff])), flags: flags, stream: other, dice.bytes(upTo: 40))
    default:
      return frame(
        UInt8(dice.number(below: 10)), flags: flags, stream: other, dice.bytes(upTo: 30),
        length: dice.one(of: [0, 1, 16_384, 16_385, 0xff_ffff]))
    }
  }
}
