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
    ("MOVED 3999 127.0.0.1:6381", "MOVED"), ("ERR unknown command 'GET'", "ERR"), ("", ""), ("no\u{1b}word", ""),
    ("ERR max number of clients reached", "MAXCLIENTS"),
    ("ERR max number of clients reached, pooled", "MAXCLIENTS"),
    (String(repeating: "A", count: 99), String(repeating: "A", count: 32)),
  ])
  func `an error is called by its first word, of which not all say enough`(_ error: String, _ word: String) {
    #expect(RedisReply.word(of: error) == word)
  }

  @Test func `a word that nobody knows is shown`() {
    #expect(RedisConnection.Failure.refused("NEWS").directDNSError(.socket("/x")).message.contains("(NEWS)"))
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
