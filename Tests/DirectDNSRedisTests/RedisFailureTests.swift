// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

@testable import DirectDNSRedis

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
}
