// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation
import Testing

@testable import DirectDNSRedis
@testable import DirectDNSTesting

struct RedisFailureTests {
  /// What a server in a cluster says to a client that does not follow (Redis cluster specification).
  @Test(arguments: ["MOVED", "ASK", "CROSSSLOT", "CLUSTERDOWN"])
  func `a member of a cluster is named as what it is`(_ word: String) {
    let message = RedisConnection.Failure.refused(word).directDNSError(.socket("/run/redis.sock")).message
    #expect(message.contains("/run/redis.sock") && message.contains("is a member of a cluster"))
  }

  @Test(arguments: [
    ("MOVED 3999 127.0.0.1:6381", "MOVED"), ("ERR syntax error", "ERR"), ("", ""), ("no\u{1b}word", ""),
    ("ERR max number of clients reached", "MAXCLIENTS"),
    ("ERR unknown command 'mget', with args beginning with: 'a' 'b' ", "UNKNOWN"),
    ("ERR max number of clients reached, pooled", "MAXCLIENTS"),
    (String(repeating: "A", count: 99), String(repeating: "A", count: 32)),
    // As Redis 6 says it of a script, and as Redis 7 does.
    (
      "ERR Error running script (call to f_1028a5dba704): @user_script:4: @user_script: 4: -READONLY You can't write",
      "READONLY"
    ),
    (
      "ERR Error running script (call to f_1028a5dba704): @user_script:4: @user_script: 4: -OOM command not allowed",
      "OOM"
    ),
    ("ERR Error running script (call to f_1028a5dba704): @user_script:1: WRONGTYPE Operation against a key", "ERR"),
    ("READONLY You can't write against a read only replica. script: 1028a5dba704, on @user_script:4.", "READONLY"),
    (
      "ERR The user executing the script can't run this command or subcommand script: 1028a5dba704, on @user_script:4.",
      "NOPERM"
    ),
    (
      "ERR The user executing the script can't access at least one of the keys mentioned in the command arguments script: 1028a5dba704, on @user_script:4.",
      "NOPERM"
    ),
    (
      "ERR Error running script (call to f_1028a5dba704): @user_script:4: The user executing the script can't run this command or subcommand",
      "NOPERM"
    ),
  ])
  func `an error is called by its first word, of which not all say enough`(_ error: String, _ word: String) {
    #expect(RedisReply.word(of: error) == word)
  }

  @Test(arguments: [
    ("TLS: tlsv13 alert certificate required", "?cert=FILE&key=FILE"),
    ("TLS: tlsv1 alert unknown ca", "?cert=FILE&key=FILE"),
    ("TLS: wrong version number", "write redis:// for rediss://"),
    ("TLS: the connection broke", "Check that it runs"), ("Connection refused", "Check that it runs"),
  ])
  func `a server that wants to know who its clients are is told from one that is not there`(
    _ reason: String, _ advice: String
  ) {
    let message = RedisConnection.Failure.connection(reason).directDNSError(.socket("/x")).message
    #expect(message.contains("cannot be reached (\(reason))") && message.contains(advice))
  }

  @Test(arguments: [
    ("Connection reset by peer", true), ("Server closed the connection", true), ("Connection refused", false),
    ("it closed the connection", false),
  ])
  func `a port that may have TLS alone is told so, and a socket never`(_ reason: String, _ mayHave: Bool) {
    for (server, hasPort) in [
      (RedisStoreConfiguration.Server.tcp(.address(.ipv4(0x7F00_0001)), port: 6380), true), (.socket("/x"), false),
    ] {
      let message = RedisConnection.Failure.connection(reason).directDNSError(server).message
      #expect(message.contains("write rediss:// for redis://") == (mayHave && hasPort), "\(message)")
    }
  }

  @Test func `a server that is late is to be looked at`() {
    let message = RedisConnection.Failure.timedOut.directDNSError(.socket("/x")).message
    #expect(message.contains("did not answer in time. Check how busy it is, and the way to it"))
  }

  @Test func `a server that does not begin TLS may have none`() {
    let message = RedisConnection.Failure.noHandshake.directDNSError(.socket("/x")).message
    #expect(message.contains("did not begin TLS in time. If it speaks none there, write redis:// for rediss://"))
  }

  @Test(arguments: [
    ("certificate has expired", "has to be renewed"), ("certificate is not yet valid", "Check this machine's clock"),
    ("hostname mismatch", "Name the host"), ("self-signed certificate", "by ?ca=FILE"), ("unknown", "by ?ca=FILE"),
  ])
  func `a certificate that is not taken says what helps`(_ reason: String, _ advice: String) {
    let message = RedisConnection.Failure.certificate(reason).directDNSError(.socket("/x")).message
    #expect(message.contains("that is not taken (\(reason)). ") && message.contains(advice), "\(message)")
  }

  @Test(arguments: [
    ("LOADING", "once that is done"), ("MASTERDOWN", "Name the primary"), ("NOREPLICAS", "Check them"),
    ("BUSY", "SCRIPT KILL"), ("UNKNOWN", "as a Sentinel does not"), ("UNKNOWN", "or a server that renames some"),
  ])
  func `a server that cannot do what a store needs is an error that says why`(_ word: String, _ advice: String) {
    let message = RedisConnection.Failure.refused(word).directDNSError(.socket("/x")).message
    #expect(message.contains(advice) && !message.contains("refused a command"))
  }

  @Test func `a user who may not do what a store needs is told what that is`() {
    let message = RedisConnection.Failure.refused("NOPERM").directDNSError(.socket("/x")).message
    for rule in ["+ping", "+select", "+get", "+mget", "+set", "+del", "+eval", "+scan", "~directdns:*"] {
      #expect(message.contains(" \(rule) "), "\(rule)")
    }
  }

  @Test(arguments: [("NEWS", "(NEWS)"), ("", "as no Redis does. Check what listens at its address")])
  func `a word that nobody knows is shown, and where there is none that is said`(_ word: String, _ words: String) {
    #expect(RedisConnection.Failure.refused(word).directDNSError(.socket("/x")).message.contains(words))
  }

  /// A second path in the first one's place would be another server, which would get the password.
  @Test(arguments: ["/tmp/" + String(repeating: "x", count: 103), "/tmp/a\0b"])
  func `a socket's path that the system would cut is refused`(_ path: String) {
    let failure = #expect(throws: RedisConnection.Failure.self) {
      _ = try RedisConnection.open(RedisStoreConfiguration(server: .socket(path)))
    }
    guard case .setting(let words)? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(words.contains("at most 107 bytes, and no NUL"))
  }

  @Test func `a name's final dot is nobody's in TLS`() {
    #expect(RedisTLS.serverName("redis.test.") == "redis.test")
    #expect(RedisTLS.serverName("redis.test") == "redis.test")
  }

  @Test func `a text in place of a file's path is refused, and not repeated, since it may be a key`() throws {
    let key = "-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----\n"
    let file = try TestCertificateAuthority().makeFile()
    for given in [
      RedisStoreConfiguration.TLS(authorities: key),
      RedisStoreConfiguration.TLS(identity: .init(certificate: key, key: "/key.pem")),
      RedisStoreConfiguration.TLS(identity: .init(certificate: file.path, key: key)),
    ] {
      let failure = #expect(throws: RedisConnection.Failure.self) {
        _ = try RedisTLS.open(given, host: .name("redis.test"), socket: -1, limit: .seconds(1))
      }
      guard case .setting(let words)? = failure else {
        Issue.record("\(String(describing: failure))")
        continue
      }
      #expect(words.hasPrefix("a text in PEM form stands in place of a file's path") && !words.contains("secret"))
    }
    withExtendedLifetime(file) {}
  }

  @Test func `a handshake that comes byte by byte ends in time`() throws {
    let server = try DrippingServer()
    let failure = #expect(throws: RedisConnection.Failure.self) {
      _ = try RedisConnection.open(
        RedisStoreConfiguration(
          server: .tcp(.address(.ipv4(0x7F00_0001)), port: server.port), tls: .init(),
          connectTimeout: .milliseconds(100)))
    }
    #expect(failure == .noHandshake)
  }

  /// As a balancer ends connections that nobody has used for long; what was not sent yet is sent again by another one.
  @Test func `a connection that was reset is gone, and no server that is late`() throws {
    let listener = try ResettingListener()
    let connection = try RedisConnection.open(
      RedisStoreConfiguration(server: .tcp(.address(.ipv4(0x7F00_0001)), port: listener.port)))
    listener.resetNext()
    // A closure cannot take what is not copied.
    var failure: RedisConnection.Failure?
    do throws(RedisConnection.Failure) { _ = try connection.run([RedisCommand("PING")]) } catch { failure = error }
    guard case .connection? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
  }
}

/// What listens at a server's address, and is no Redis.
struct RedisStrangerTests {
  @Test(arguments: [
    "+OK\r\n", "$-1\r\n", ":1\r\n", "*0\r\n", "*2\r\n$-1\r\n$-1\r\n", "*1\r\n-upstream failure\r\n", "*1\r\n:1\r\n",
    "*1\r\n+OK\r\n", "*1\r\n*0\r\n",
  ])
  func `a reply that is not one for each name is an error, and nothing that is known`(_ reply: String) async throws {
    let question = AddressQuestion(try HostName("www.example.net"), .ipv4)
    let now = SystemClock().wallNow
    let answer = StoredAnswer(
      question, .addresses([.ipv4(0xC000_0207)]), provider: "one", asked: now, expires: now + .seconds(300),
      gone: now + .seconds(3000))
    let store = try ScriptedServer([[reply], [reply]]).store
    await #expect { _ = try await store.read([question]) } throws: { "\($0)".contains("MGET as no Redis does") }
    await #expect { _ = try await store.writeNewer([answer]) } throws: { "\($0)".contains("MGET as no Redis does") }
  }
}

/// What is sent again because a connection broke: the first time it may have been carried out, and its reply lost.
struct RedisRetryTests {
  private let question: AddressQuestion

  init() throws { question = AddressQuestion(try HostName("www.example.net"), .ipv4) }

  @Test(arguments: ["me", "you"])
  func `a lease that is asked for once more is one's own or another's, by its holder`(_ holder: String) async throws {
    let store = try ScriptedServer([["+OK\r\n"], ["$-1\r\n", "$\(holder.utf8.count)\r\n\(holder)\r\n"]]).store
    #expect(try await store.takeLease(on: question, holder: "before", for: .seconds(60)))
    #expect(try await store.takeLease(on: question, holder: "me", for: .seconds(60)) == (holder == "me"))
  }

  @Test func `a lease that was asked for once is another's, and nobody is asked for its holder`() async throws {
    let store = try ScriptedServer([["$-1\r\n"]]).store
    #expect(try await !store.takeLease(on: question, holder: "me", for: .seconds(60)))
  }

  private static let now = SystemClock().wallNow

  private func answer(asked: WallInstant) -> StoredAnswer {
    StoredAnswer(
      question, .addresses([.ipv4(0xC000_0207)]), provider: "one", asked: asked, expires: asked + .seconds(300),
      gone: asked + .seconds(3000))
  }

  /// A script that is run again changes nothing, and says so.
  @Test(arguments: [(now, 1), (now + .seconds(1), 0)])
  func `an answer that stands there since its reply was lost counts as kept, and a newer one of others does not`(
    _ asked: WallInstant, _ kept: Int
  ) async throws {
    let there = answer(asked: asked).text
    let store = try ScriptedServer([
      ["*1\r\n$-1\r\n"], [":0\r\n", "*1\r\n$\(there.utf8.count)\r\n\(there)\r\n"],
    ]).store
    #expect(try await store.writeNewer([answer(asked: Self.now)]) == kept)
  }

  /// The address is spelled as no connection tells it, which shows that the configured host was gone by.
  @Test(arguments: [["HTTP/1.1 400 Bad Request\r\n\r\n"], ["-NOAUTH Authentication required.\r\n"], []])
  func `a server whose address another program has taken is looked for by its name`(_ sayings: [String]) async throws {
    let server = try ScriptedServer([sayings, ["+PONG\r\n"]])
    let address = Locked<String?>("127.1")
    let worker = RedisWorker(server.configuration, "redis.test", address: address, mayWait: true)
    await #expect(throws: DirectDNSError.self) { try await worker.run([RedisCommand("PING")]) }
    #expect(address.withLock(\.self) == "127.1")
    #expect(try await worker.run([RedisCommand("PING")]) == [.status("PONG")])
    #expect(address.withLock(\.self) == "127.0.0.1")
  }
}

/// A server on loopback with the replies for each connection, one to each lot of commands; then it closes it.
private struct ScriptedServer {
  /// It is waited for longer than a busy machine takes.
  let configuration: RedisStoreConfiguration
  var store: RedisAnswerStore { RedisAnswerStore(configuration) }

  init(_ connections: [[String]]) throws {
    let listener = try #require(LoopbackListener())
    configuration = RedisStoreConfiguration(
      server: .tcp(.address(.ipv4(0x7F00_0001)), port: listener.port), connectTimeout: .seconds(30),
      timeout: .seconds(30))
    Thread {
      for replies in connections {
        let connection = accept(listener.descriptor, nil, nil)
        for reply in replies {
          var room = [UInt8](repeating: 0, count: 65_536)
          guard unsafe recv(connection, &room, room.count, 0) > 0 else { break }
          let bytes = Array(reply.utf8)
          _ = unsafe send(connection, bytes, bytes.count, 0)
        }
        close(connection)
      }
      close(listener.descriptor)
    }.start()
  }
}

/// A server on loopback that begins a TLS record and sends a byte of it every ten milliseconds.
private final class DrippingServer: Sendable {
  let port: UInt16

  init() throws {
    let listener = try #require(LoopbackListener())
    port = listener.port
    Thread {
      let accepted = accept(listener.descriptor, nil, nil)
      close(listener.descriptor)
      defer { close(accepted) }
      // Of a handshake, by TLS 1.2, and 16 KiB long (RFC 8446 §5.1).
      let head: [UInt8] = [22, 3, 3, 0x40, 0]
      guard unsafe send(accepted, head, head.count, Int32(MSG_NOSIGNAL)) == head.count else { return }
      // Up to ten seconds: to a client that waits for ever it is one that has hung up.
      for _ in 0..<1000 {
        guard unsafe send(accepted, "H", 1, Int32(MSG_NOSIGNAL)) == 1 else { return }
        _ = poll(nil, 0, 10)
      }
    }.start()
  }
}

/// A listener on loopback that resets what it accepts.
private final class ResettingListener {
  private let listener: LoopbackListener
  var port: UInt16 { listener.port }

  init() throws { listener = try #require(LoopbackListener()) }

  deinit { close(listener.descriptor) }

  func resetNext() {
    let accepted = accept(listener.descriptor, nil, nil)
    var atOnce = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(accepted, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
    close(accepted)
  }
}
