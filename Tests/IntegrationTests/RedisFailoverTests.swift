// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSRedis
import Foundation
import Testing

/// The store over real Redis servers that give way to another, or take no further client.
@Suite(.enabled(if: Redis.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(1)))
struct RedisFailoverTests {
  /// A socket's path that leads to one server's, as a service's address leads to the primary.
  private let path: String
  private let sockets: [String]

  init() throws {
    let folder = try ServerFixture.newFolder("failover").path
    path = folder + "/primary"
    sockets = [folder + "/1", folder + "/2"]
  }

  private func lead(to number: Int) throws {
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: sockets[number])
  }

  @Test func `a primary that has become a replica is left for the one that its address leads to by now`() async throws {
    let question = AddressQuestion(try HostName("www.lab.test"), .ipv4)
    let now = SystemClock().wallNow
    let answer = StoredAnswer(
      question, .addresses([.ipv4(0x7f00_0001)]), provider: "one", asked: now, expires: now + .seconds(300),
      gone: now + .seconds(300))
    try await Redis.running("--unixsocket", sockets[0]) { old in
      try await Redis.running("--unixsocket", sockets[1]) { new in
        let store = RedisAnswerStore(RedisStoreConfiguration(server: .socket(path)))
        try lead(to: 0)
        try await store.write([answer])
        #expect(try await store.takeLease(on: question, holder: "one", for: .seconds(60)))
        _ = try await old.client("REPLICAOF", "127.0.0.1", "\(new.port)")

        // Until the address leads elsewhere there is nobody to write to, and reading goes on.
        await #expect { try await store.write([answer]) } throws: { "\($0)".contains("is a replica") }
        await #expect(throws: DirectDNSError.self) {
          try await store.takeLease(on: question, holder: "two", for: .seconds(60))
        }
        _ = try await store.read([question])

        try lead(to: 1)
        try await store.write([answer])
        #expect(try await store.takeLease(on: question, holder: "two", for: .seconds(60)))
        #expect(try await new.client("DBSIZE") == "2")
      }
    }
  }

  @Test(arguments: ["", ":OPEN-SESAME@"], ["", "/1"])
  func `a server that has all the clients that it takes is named as that`(
    _ user: String, _ database: String
  ) async throws {
    try await Redis.running { server in
      let first = try server.store()
      _ = try await first.read([])
      // Not from the start: whoever looked whether it listens would be its client for a moment longer.
      #expect(try await server.client("CONFIG", "SET", "maxclients", "1") == "OK")
      let url = "redis://\(user)127.0.0.1:\(server.port)\(database)"
      let second = RedisAnswerStore(try RedisStoreConfiguration(url: url))
      await #expect { _ = try await second.read([]) } throws: { "\($0)".contains("Raise maxclients") }
      _ = try await first.read([])
    }
  }
}
