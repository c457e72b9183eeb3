// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A server that says something on connections that wait for their next request.
@Suite(.timeLimit(.minutes(1)))
struct UnaskedBytesTests {
  @Test(arguments: [
    // A second response, the answer to silence (RFC 9110 §15.5.9), and the body of a response that has none.
    ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother"),
    (
      "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
      "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    ),
    ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "other"),
    ("GET", "HTTP/1.1 204 No Content\r\n\r\n", "{}"),
  ])
  func `what comes unasked is no answer to the next request`(
    _ method: String, _ response: String, _ unasked: String
  ) async throws {
    let server = try #require(TalkativeServer(response, then: unasked))
    let client = try ClientSample.client()
    let url = try WebURL("http://shop.test:\(server.port)/")
    let first = try await client.execute(HTTPRequest(method: #require(.init(method)), url: url))
    _ = try await first.body.text()
    // It lies in the connection's buffer by then.
    await server.speak()
    let second = try await client.execute(HTTPRequest(method: .post, url: url), body: .text("order"))
    #expect(try await second.body.text() == "mine" && second.status == .ok)
    #expect(!second.connection.isReused)
    await client.shutdown()
    server.stop()
  }
}

/// One server for two connections: the first is answered and then told something, the second gets "mine".
private final class TalkativeServer: Sendable {
  let port: UInt16
  private let listener: CInt
  private let hasTalked = AsyncStream.makeStream(of: Void.self)
  private let talk = DispatchSemaphore(value: 0)

  init?(_ response: String, then unasked: String) {
    #if canImport(Darwin)
      let kind = SOCK_STREAM
    #else
      let kind = CInt(SOCK_STREAM.rawValue)
    #endif
    let listener = socket(AF_INET, kind, 0)
    self.listener = listener
    var place = sockaddr_in()
    place.sin_family = sa_family_t(AF_INET)
    place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listens = unsafe withUnsafeMutablePointer(to: &place) { place in
      unsafe place.withMemoryRebound(to: sockaddr.self, capacity: 1) { place in
        unsafe bind(listener, place, size) == 0 && listen(listener, 8) == 0 && getsockname(listener, place, &size) == 0
      }
    }
    guard listens else { return nil }
    port = UInt16(bigEndian: place.sin_port)
    let (talk, talked) = (talk, hasTalked.continuation)
    let thread = Thread {
      let first = accept(listener, nil, nil)
      Self.answer(first, response)
      talk.wait()
      Self.say(first, unasked)
      talked.finish()
      let second = accept(listener, nil, nil)
      guard second >= 0 else { return }
      Self.answer(second, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmine")
      close(second)
      close(first)
    }
    thread.start()
  }

  /// Has the first connection told what nobody asked for.
  func speak() async {
    talk.signal()
    for await _ in hasTalked.stream {}
  }

  func stop() {
    shutdown(listener, CInt(SHUT_RDWR))
    close(listener)
  }

  private static func answer(_ connection: CInt, _ text: String) {
    var request: [UInt8] = []
    var room = [UInt8](repeating: 0, count: 4096)
    // A body, where there is one, comes along with the head.
    while !String(decoding: request, as: UTF8.self).contains("\r\n\r\n") {
      let count = unsafe recv(connection, &room, room.count, 0)
      guard count > 0 else { return }
      request += room.prefix(count)
    }
    say(connection, text)
  }

  private static func say(_ connection: CInt, _ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe send(connection, bytes, bytes.count, 0)
  }
}
