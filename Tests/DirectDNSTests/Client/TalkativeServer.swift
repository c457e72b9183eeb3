// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation

@testable import DirectDNSTesting

/// One server for two connections: the first is answered and then told something, the second gets what is last.
///
/// Where a length is given, there is one before them, whose response is so long.
final class TalkativeServer: Sendable {
  let port: UInt16
  /// Nil once it is closed.
  ///
  /// Only the thread closes it: a number closed under accept(2) could by then be another's socket.
  private let listener: Locked<CInt?>
  private let hasTalked = AsyncStream.makeStream(of: Void.self)
  private let hasFilled = AsyncStream.makeStream(of: Void.self)
  private let talk = DispatchSemaphore(value: 0)

  init?(
    _ response: String, then unasked: String, beside length: Int? = nil,
    last: String = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmine"
  ) {
    guard let place = LoopbackListener() else { return nil }
    let listener = place.descriptor
    self.listener = Locked(listener)
    port = place.port
    let (talk, talked, filled, open) = (talk, hasTalked.continuation, hasFilled.continuation, self.listener)
    let thread = Thread {
      defer { open.withLock { if let listener = $0.take() { close(listener) } } }
      if let length {
        let long = accept(listener, nil, nil)
        Self.answer(long, "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n")
        Thread { Self.fill(long, length, filled) }.start()
      }
      let first = accept(listener, nil, nil)
      defer { close(first) }
      Self.answer(first, response)
      talk.wait()
      Self.say(first, unasked)
      talked.finish()
      let second = accept(listener, nil, nil)
      guard second >= 0 else { return }
      Self.answer(second, last)
      close(second)
    }
    thread.start()
  }

  /// Waits until nobody takes any more of the long response.
  func isStuck() async { for await _ in hasFilled.stream {} }

  /// Has the first connection told what nobody asked for.
  func speak() async {
    talk.signal()
    for await _ in hasTalked.stream {}
  }

  func stop() {
    listener.withLock { _ = $0.map { shutdown($0, CInt(SHUT_RDWR)) } }
    talk.signal()
  }

  /// - Returns: the request's head, and what came of its body along with it.
  @discardableResult
  static func answer(_ connection: CInt, _ text: String) -> String {
    var request: [UInt8] = []
    var room = [UInt8](repeating: 0, count: 4096)
    // A body, where there is one, comes along with the head.
    while !String(decoding: request, as: UTF8.self).contains("\r\n\r\n") {
      let count = unsafe recv(connection, &room, room.count, 0)
      guard count > 0 else { return "" }
      request += room.prefix(count)
    }
    say(connection, text)
    return String(decoding: request, as: UTF8.self)
  }

  private static func fill(_ connection: CInt, _ length: Int, _ stuck: AsyncStream<Void>.Continuation) {
    let bytes = [UInt8](repeating: 0x61, count: length)
    var sent = 0
    while sent < length {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe send(connection, $0.baseAddress.map { unsafe $0 + sent }, length - sent, CInt(MSG_DONTWAIT))
      }
      guard count < 0 else {
        sent += count
        continue
      }
      var wanted = pollfd(fd: connection, events: Int16(POLLOUT), revents: 0)
      // For a tenth of a second there was no room: the reader has stopped.
      if unsafe poll(&wanted, 1, 100) == 0 { stuck.finish() }
    }
    close(connection)
  }

  static func say(_ connection: CInt, _ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe send(connection, bytes, bytes.count, 0)
  }
}
