// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation

@testable import DirectDNSTesting

/// A proxy that answers each CONNECT by a text of a test's own, and where that is success joins the client with one port
/// of this machine, whatever was asked for.
final class TunnelProxy: Sendable {
  let port: UInt16
  private let come = Locked<[String]>([])
  /// Nil once it is closed.
  ///
  /// Only the thread closes it: a number closed under accept(2) could by then be another's socket.
  private let listener: Locked<CInt?>

  /// The heads that have come, in their order.
  var heads: [String] { come.withLock(\.self) }

  init?(to origin: Int, answer: String = "HTTP/1.1 200 Connection established\r\n\r\n") {
    guard let place = LoopbackListener() else { return nil }
    port = place.port
    self.listener = Locked(place.descriptor)
    let (open, heads) = (self.listener, come)
    let thread = Thread {
      defer { open.withLock { if let listener = $0.take() { close(listener) } } }
      while true {
        let client = accept(place.descriptor, nil, nil)
        guard client >= 0 else { return }
        let head = TalkativeServer.answer(client, "")
        heads.withLock { $0.append(head) }
        TalkativeServer.say(client, answer)
        if answer.hasPrefix("HTTP/1.1 200 ") {
          Thread { Self.join(client, LoopbackConnection.open(to: origin)) }.start()
        } else {
          close(client)
        }
      }
    }
    thread.start()
  }

  func stop() { listener.withLock { _ = $0.map { shutdown($0, CInt(SHUT_RDWR)) } } }

  /// Carries bytes both ways until both sides have ended.
  private static func join(_ client: CInt, _ server: CInt) {
    let isSent = DispatchSemaphore(value: 0)
    let thread = Thread {
      carry(from: client, to: server)
      isSent.signal()
    }
    thread.start()
    carry(from: server, to: client)
    isSent.wait()
    for descriptor in [client, server] where descriptor >= 0 { close(descriptor) }
  }

  private static func carry(from source: CInt, to target: CInt) {
    #if canImport(Darwin)
      let flags: CInt = 0
    #else
      // Who has hung up must not end the process.
      let flags = CInt(MSG_NOSIGNAL)
    #endif
    var room = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe recv(source, &room, room.count, 0)
      guard count > 0 else { break }
      guard unsafe send(target, room, count, flags) == count else { break }
    }
    shutdown(target, CInt(SHUT_WR))
  }
}
