// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation

@testable import DirectDNSTesting

/// A server that answers one request by its head, and then reads its body, sent in chunks, to the end.
///
/// It may end the connection behind its answer.
final class ReadingServer: Sendable {
  let port: UInt16
  private let got = AsyncStream.makeStream(of: String.self)

  enum End {
    /// It says nothing more, and reads on (shutdown(2)).
    case writing
    /// It breaks the connection off as soon as it has a part of the body.
    case all
  }

  init?(_ response: String, ending end: End? = nil) {
    guard let listener = LoopbackListener() else { return nil }
    port = listener.port
    let got = got.continuation
    Thread {
      let connection = accept(listener.descriptor, nil, nil)
      close(listener.descriptor)
      var request = TalkativeServer.answer(connection, response)
      if end == .writing { shutdown(connection, CInt(SHUT_WR)) }
      var room = [UInt8](repeating: 0, count: 4096)
      while !request.hasSuffix("\r\n0\r\n\r\n") {
        if end == .all, !request.hasSuffix("\r\n\r\n") {
          var atOnce = linger(l_onoff: 1, l_linger: 0)
          unsafe setsockopt(connection, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
          break
        }
        let count = unsafe recv(connection, &room, room.count, 0)
        guard count > 0 else { break }
        request += String(decoding: room.prefix(count), as: UTF8.self)
      }
      close(connection)
      got.yield(request.components(separatedBy: "\r\n\r\n").dropFirst().joined(separator: "\r\n\r\n"))
      got.finish()
    }.start()
  }

  /// The body in its chunks, once it or the connection has ended.
  func body() async -> String {
    for await body in got.stream { return body }
    return ""
  }
}
