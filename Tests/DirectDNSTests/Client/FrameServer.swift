// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation

@testable import DirectDNSTesting

/// A server of plain HTTP/2 for one connection, which answers its first request by frames that are sent at once.
final class FrameServer: Sendable {
  let port: UInt16

  init?(_ frames: [UInt8]) {
    guard let listener = LoopbackListener() else { return nil }
    port = listener.port
    Thread {
      let connection = accept(listener.descriptor, nil, nil)
      close(listener.descriptor)
      // The server's first frame is SETTINGS, which may be empty (RFC 9113 §3.4).
      Self.say(connection, Self.frame(4, stream: 0, []))
      var received: [UInt8] = []
      var room = [UInt8](repeating: 0, count: 4096)
      var hasAnswered = false
      while true {
        let count = unsafe recv(connection, &room, room.count, 0)
        guard count > 0 else { break }
        received += room.prefix(count)
        guard !hasAnswered, Self.hasRequest(received) else { continue }
        hasAnswered = true
        Self.say(connection, frames)
      }
      close(connection)
    }.start()
  }

  /// A response on the first request's stream, whose body is one frame of DATA, and the last one.
  ///
  /// - Parameters:
  ///   - field: how long the value of a field is, 127 bytes or more; 0 for none.
  ///   - body: how many bytes the body has.
  /// - Returns: its frames.
  static func response(field: Int, body: Int) -> [UInt8] {
    // `:status: 200` of the static table (RFC 7541 appendix A).
    let fields: [UInt8] = [0x88] + (field == 0 ? [] : literal(field))
    return frame(1, flags: 4, stream: 1, fields) + frame(0, flags: 1, stream: 1, [UInt8](repeating: 0x61, count: body))
  }

  /// A refusal of the first request, 413, and behind it RST_STREAM with an error code (RFC 9113 §6.4).
  static func refusal(_ code: UInt8) -> [UInt8] {
    // `:status` of the static table with another value, and END_STREAM.
    frame(1, flags: 5, stream: 1, [0x08, 3] + Array("413".utf8)) + frame(3, stream: 1, [0, 0, 0, code])
  }

  /// A field that is not indexed (RFC 7541 §6.2.2), whose value's length does not fit into its prefix (§5.1).
  private static func literal(_ length: Int) -> [UInt8] {
    var bytes: [UInt8] = [0, 1, UInt8(ascii: "x"), 127]
    var rest = length - 127
    while rest >= 128 {
      bytes.append(UInt8(rest % 128 + 128))
      rest /= 128
    }
    return bytes + [UInt8(rest)] + [UInt8](repeating: UInt8(ascii: "a"), count: length)
  }

  private static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt8, _ payload: [UInt8]) -> [UInt8] {
    let length = [16, 8, 0].map { UInt8(payload.count >> $0 & 0xff) }
    return length + [type, flags, 0, 0, 0, stream] + payload
  }

  /// Whether a frame of HEADERS has begun behind the preface.
  private static func hasRequest(_ bytes: [UInt8]) -> Bool {
    var rest = bytes.dropFirst(24)
    while rest.count >= 9 {
      let head = Array(rest.prefix(9))
      if head[3] == 1 { return true }
      rest = rest.dropFirst(9 + head.prefix(3).reduce(0) { $0 << 8 | Int($1) })
    }
    return false
  }

  private static func say(_ connection: CInt, _ bytes: [UInt8]) {
    _ = unsafe send(connection, bytes, bytes.count, 0)
  }
}
