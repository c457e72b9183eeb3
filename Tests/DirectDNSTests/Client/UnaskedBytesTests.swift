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

  @Test
  func `nor is it while another response waits for its reader, whose connection stays`() async throws {
    let server = try #require(
      TalkativeServer(
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", then: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother",
        beside: 32 << 20))
    let client = try ClientSample.client { $0.bufferSize = 16 * 1024 }
    let url = try WebURL("http://shop.test:\(server.port)/")
    let long = try await client.execute(HTTPRequest(method: .get, url: url))
    var pieces = long.body.makeAsyncIterator()
    var count = try #require(await pieces.next()).count
    // By now the server cannot write on: nobody reads.
    await server.isStuck()
    _ = try await client.execute(HTTPRequest(method: .get, url: url)).body.text()
    await server.speak()
    let second = try await client.execute(HTTPRequest(method: .post, url: url), body: .text("order"))
    #expect(try await second.body.text() == "mine" && !second.connection.isReused)
    while let piece = try await pieces.next() { count += piece.count }
    #expect(count == 32 << 20)
    await client.shutdown()
    server.stop()
  }

  @Test
  func `what comes unasked from a provider is no answer about the next name`() async throws {
    // A format whose replies do not say which name they are about.
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n"
    let server = try #require(
      TalkativeServer(head + "192.0.2.10,600", then: head + "192.0.2.66,600", last: head + "192.0.2.20,600"))
    var configuration = ResolverConfiguration(providers: [
      try ProviderConfiguration("dnspod+http://127.0.0.1:\(server.port)/d")
    ])
    configuration.families = .ipv4
    configuration.usesSystemDNS = false
    let resolver = try DirectResolver(configuration)
    #expect(try await resolver.resolve("a.test").addresses.map(\.description) == ["192.0.2.10"])
    await server.speak()
    #expect(try await resolver.resolve("b.test").addresses.map(\.description) == ["192.0.2.20"])
    resolver.shutdown()
    server.stop()
  }
}

/// One server for two connections: the first is answered and then told something, the second gets what is last.
///
/// Where a length is given, there is one before them, whose response is so long.
private final class TalkativeServer: Sendable {
  let port: UInt16
  private let listener: CInt
  private let hasTalked = AsyncStream.makeStream(of: Void.self)
  private let hasFilled = AsyncStream.makeStream(of: Void.self)
  private let talk = DispatchSemaphore(value: 0)

  init?(
    _ response: String, then unasked: String, beside length: Int? = nil,
    last: String = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmine"
  ) {
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
    let (talk, talked, filled) = (talk, hasTalked.continuation, hasFilled.continuation)
    let thread = Thread {
      if let length {
        let long = accept(listener, nil, nil)
        Self.answer(long, "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n")
        Thread { Self.fill(long, length, filled) }.start()
      }
      let first = accept(listener, nil, nil)
      Self.answer(first, response)
      talk.wait()
      Self.say(first, unasked)
      talked.finish()
      let second = accept(listener, nil, nil)
      guard second >= 0 else { return }
      Self.answer(second, last)
      close(second)
      close(first)
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

  private static func say(_ connection: CInt, _ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe send(connection, bytes, bytes.count, 0)
  }
}
