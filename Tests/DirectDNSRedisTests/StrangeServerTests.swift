// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSRedis
import Foundation
import Testing

@testable import DirectDNSTesting

/// Servers that say what no Redis does, drip, or hang up: none of that is an answer, nor another one's lease.
@Suite(.timeLimit(.minutes(1)))
struct StrangeServerTests {
  private let question: AddressQuestion

  init() throws { question = AddressQuestion(try HostName("www.example.net"), .ipv4) }

  private func store(_ server: ScriptedServer, timeout: Duration = .seconds(20)) -> RedisAnswerStore {
    RedisAnswerStore(
      RedisStoreConfiguration(
        server: .tcp(.address(.ipv4(0x7F00_0001)), port: server.port), connectTimeout: .seconds(20), timeout: timeout))
  }

  private var answer: StoredAnswer {
    let now = SystemClock().wallNow
    return StoredAnswer(
      question, .addresses([.ipv4(0xC000_0201)]), provider: "one", asked: now, expires: now + .seconds(60),
      gone: now + .seconds(3600))
  }

  @Test func `what is not Redis's protocol is told as such`() async throws {
    let server = try ScriptedServer([[.text("HTTP/1.1 400 Bad Request\r\n\r\n")]])
    let store = store(server)
    let error = await #expect(throws: DirectDNSError.self) { try await store.read([question]) }
    #expect(error?.code == .storeFailed)
    #expect(error?.message.contains("(what it says is not Redis's protocol)") == true, "\(String(describing: error))")
    server.stop()
  }

  @Test(arguments: ["#f\r\n", ",1.5\r\n", "%0\r\n", "~0\r\n", ">1\r\n+OK\r\n", "*1\r\n#f\r\n"])
  func `what Redis says to those alone who have asked for RESP 3 is no answer`(_ reply: String) async throws {
    let server = try ScriptedServer([[.text(reply)]])
    let store = store(server)
    let error = await #expect(throws: DirectDNSError.self) {
      try await store.takeLease(on: question, holder: "me", for: .seconds(9))
    }
    #expect(error?.message.contains("(what it says is not Redis's protocol)") == true, "\(String(describing: error))")
    server.stop()
  }

  @Test func `what nobody asked for is not the answer to what is asked next`() async throws {
    let (nothing, line) = ("*1\r\n$-1\r\n", answer.text)
    let surplus = "*1\r\n$\(line.utf8.count)\r\n\(line)\r\n"
    let server = try ScriptedServer([[.text(nothing + surplus)], [.text(nothing)]])
    let store = store(server)
    let error = await #expect(throws: DirectDNSError.self) { try await store.read([question]) }
    #expect(error?.message.contains("(what it says is not Redis's protocol)") == true, "\(String(describing: error))")
    #expect(try await store.read([question]).isEmpty)
    #expect(server.connectionCount == 2)
    server.stop()
  }

  @Test func `what nobody asked for is no answer where it comes between two questions either`() async throws {
    let (nothing, line) = ("*1\r\n$-1\r\n", answer.text)
    let server = try ScriptedServer([[.text(nothing), .text(nothing)], [.text(nothing)]])
    let store = store(server)
    #expect(try await store.read([question]).isEmpty)
    #expect(server.tells("*1\r\n$\(line.utf8.count)\r\n\(line)\r\n"))
    #expect(try await store.read([question]).isEmpty)
    #expect(server.connectionCount == 2)
    server.stop()
  }

  @Test(arguments: ["*0\r\n", "$2\r\nOK\r\n", "+QUEUED\r\n", "$-1\r\n"])
  func `an answer that is not said to be kept is none that is`(_ reply: String) async throws {
    let server = try ScriptedServer([[.text(reply)]])
    let store = store(server)
    let error = await #expect(throws: DirectDNSError.self) { try await store.write([answer]) }
    #expect(error?.code == .storeFailed && error?.message.contains("answered SET as no Redis does") == true)
    server.stop()
  }

  @Test(arguments: [("+OK\r\n", true), ("$-1\r\n", false)])
  func `a lease is taken, or another's`(_ reply: String, _ isTaken: Bool) async throws {
    let server = try ScriptedServer([[.text(reply)]])
    let store = store(server)
    #expect(try await store.takeLease(on: question, holder: "me", for: .seconds(9)) == isTaken)
    server.stop()
  }

  @Test(arguments: [":0\r\n", ":1\r\n", "*0\r\n", "$2\r\nOK\r\n", "+NO\r\n"])
  func `what says of a lease neither is an error, since nobody would ask if all took it for another's`(
    _ reply: String
  ) async throws {
    let server = try ScriptedServer([[.text(reply)]])
    let store = store(server)
    let error = await #expect(throws: DirectDNSError.self) {
      try await store.takeLease(on: question, holder: "me", for: .seconds(9))
    }
    #expect(error?.code == .storeFailed && error?.message.contains("answered SET as no Redis does") == true)
    server.stop()
  }

  @Test(arguments: [
    "+OK\r\n", "*0\r\n", "*1\r\n$1\r\n0\r\n", "*2\r\n$3\r\nabc\r\n*0\r\n", "*2\r\n$-1\r\n*0\r\n",
    "*2\r\n$1\r\n0\r\n$1\r\nx\r\n", "*2\r\n$1\r\n0\r\n$-1\r\n",
  ])
  func `what is no page of keys ends a visit with an error, and not as if there were no more`(
    _ reply: String
  ) async throws {
    let server = try ScriptedServer([[.text(reply)]])
    let store = store(server)
    let error = await #expect(throws: DirectDNSError.self) { try await store.visit { _ in true } }
    #expect(error?.code == .storeFailed && error?.message.contains("answered SCAN as no Redis does") == true)
    server.stop()
  }

  @Test func `a visit ends where the server says so, be there keys or not`() async throws {
    let pages = ["*2\r\n$1\r\n7\r\n*0\r\n", "*2\r\n$1\r\n0\r\n*0\r\n"]
    let server = try ScriptedServer([pages.map { .text($0) }])
    try await store(server).visit { _ in
      Issue.record("there are no answers")
      return true
    }
    #expect(server.connectionCount == 1)
    server.stop()
  }

  /// Each byte comes before the server would be taken for silent.
  @Test func `a reply that drips is given up in time`() async throws {
    let server = try ScriptedServer([[.drip]])
    let store = store(server, timeout: .milliseconds(50))
    let error = await #expect(throws: DirectDNSError.self) { try await store.read([question]) }
    #expect(error?.code == .storeFailed)
    #expect(error?.message.contains("did not answer in time") == true, "\(String(describing: error))")
    server.stop()
  }

  @Test func `what a kept connection has lost is sent once more on another one, and then no more`() async throws {
    let nothing = ScriptedServer.Saying.text("*1\r\n$-1\r\n")
    let server = try ScriptedServer([[nothing], [nothing], [], []])
    let store = store(server)
    for count in 1...2 {
      #expect(try await store.read([question]).isEmpty)
      #expect(server.connectionCount == count)
    }
    let error = await #expect(throws: DirectDNSError.self) { try await store.read([question]) }
    #expect(error?.message.contains("cannot be reached") == true, "\(String(describing: error))")
    #expect(server.connectionCount == 3)
    server.stop()
  }

  @Test func `a new connection that is lost is an error at once`() async throws {
    let server = try ScriptedServer([[], []])
    let store = store(server)
    let error = await #expect(throws: DirectDNSError.self) { try await store.read([question]) }
    #expect(error?.message.contains("cannot be reached") == true, "\(String(describing: error))")
    #expect(server.connectionCount == 1)
    server.stop()
  }
}

/// A server on loopback that says something of a test's own to whatever it gets, on one connection after the other.
private final class ScriptedServer: Sendable {
  /// What it says to what comes.
  enum Saying: Sendable {
    case text(String)
    /// A text's length without end, digit by digit, for ten seconds at most.
    case drip
  }

  let port: UInt16
  /// Nil once it is closed.
  ///
  /// Only the thread closes it: a number closed under accept(2) could by then be another's socket.
  private let listener: Locked<CInt?>
  private let accepted = Locked(0)
  /// The connection that stands; nil without one.
  private let current = Locked<CInt?>(nil)

  /// How many clients have come.
  var connectionCount: Int { accepted.withLock(\.self) }

  /// Says these things on each connection, which is closed behind them.
  init(_ scripts: [[Saying]]) throws {
    let place = try #require(LoopbackListener())
    port = place.port
    self.listener = Locked(place.descriptor)
    let (open, count, current) = (self.listener, accepted, self.current)
    let thread = Thread {
      defer { open.withLock { if let listener = $0.take() { close(listener) } } }
      for script in scripts {
        let connection = accept(place.descriptor, nil, nil)
        guard connection >= 0 else { return }
        count.withLock { $0 += 1 }
        current.withLock { $0 = connection }
        for saying in script where Self.hears(connection) { Self.say(saying, to: connection) }
        current.withLock { $0 = nil }
        close(connection)
      }
    }
    thread.start()
  }

  func stop() { listener.withLock { _ = $0.map { shutdown($0, CInt(SHUT_RDWR)) } } }

  /// Says something on the connection that stands, whatever it was asked.
  func tells(_ text: String) -> Bool { current.withLock { $0.map { Self.tells(text, to: $0) } ?? false } }

  private static func hears(_ connection: CInt) -> Bool {
    var room = [UInt8](repeating: 0, count: 4096)
    return unsafe recv(connection, &room, room.count, 0) > 0
  }

  private static func say(_ saying: Saying, to connection: CInt) {
    switch saying {
    case .text(let text): _ = tells(text, to: connection)
    case .drip:
      guard tells("$", to: connection) else { return }
      for _ in 0..<500 {
        // It says nothing more, and hangs up in the end.
        var end = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
        guard tells("1", to: connection), unsafe poll(&end, 1, 20) == 0 else { return }
      }
    }
  }

  private static func tells(_ text: String, to connection: CInt) -> Bool {
    #if canImport(Darwin)
      let flags: CInt = 0
    #else
      // Who has hung up must not end the process.
      let flags = CInt(MSG_NOSIGNAL)
    #endif
    let bytes = Array(text.utf8)
    return unsafe send(connection, bytes, bytes.count, flags) == bytes.count
  }
}
