// SPDX-License-Identifier: Apache-2.0
/// Lines that begin with a blank where there is no line before that they could go on with (RFC 9112 §2.2, §5.2).
///
/// What a client still knows of an earlier response is what such a line is appended to: libcurl before 8.1.1 wrote into
/// memory that it had freed (curl#11101). So an answer that is fine comes first, and leaves the connection open.
extension HostileScript {
  /// Whether its answers have such lines: one script of five in HTTP/1.1.
  package var foldsLines: Bool { language == .http1 && seed % 5 == 4 }

  static func folded(_ content: Content, request: Int, _ dice: inout Dice) -> [Step] {
    guard request > 0 else { return [.send(fine(content, &dice))] }
    let line =
      dice.one(of: [" ", "\t", " \t", "   "])
      + dice.one(of: ["X-Lead: y", "no colon", "", "Content-Length: 5", String(repeating: "a", count: 5000)]) + "\r\n"
    let start = "HTTP/1.1 200 OK\r\n"
    let fields = "Content-Type: \(content.type)\r\n"
    let rest = fields + "Content-Length: \(content.bytes.count)\r\n\r\n"
    let bytes: [UInt8] =
      switch dice.number(below: 6) {
      case 0, 1: Array((start + line + rest).utf8) + content.bytes
      case 2: Array(("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + start + line + rest).utf8) + content.bytes
      case 3: Array(("HTTP/1.1 100 Continue\r\n" + line + "\r\n" + start + rest).utf8) + content.bytes
      case 4: Array(("HTTP/1.1 204 No Content\r\n" + line + "\r\n").utf8)
      default:
        Array((start + fields + "Transfer-Encoding: chunked\r\n\r\n").utf8)
          + Array("\(String(content.bytes.count, radix: 16))\r\n".utf8) + content.bytes
          + Array(("\r\n0\r\n" + line + "\r\n").utf8)
      }
    return dice.chance(3) ? staged(bytes, &dice) : [.send(bytes)]
  }

  /// An answer without faults, behind which the connection can be used again; mostly even that to a HEAD.
  private static func fine(_ content: Content, _ dice: inout Dice) -> [UInt8] {
    switch dice.number(below: 3) {
    case 0: Array("HTTP/1.1 204 No Content\r\nX-Last: y\r\n\r\n".utf8)
    case 1: Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Last: y\r\n\r\n".utf8)
    default:
      Array("HTTP/1.1 200 OK\r\nContent-Type: \(content.type)\r\nContent-Length: \(content.bytes.count)\r\n\r\n".utf8)
        + content.bytes
    }
  }
}
