// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSRedis
import Foundation
import Testing

@testable import DirectDNSTesting

/// The store over a real Redis.
@Suite(.enabled(if: Redis.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(1)))
struct RedisStoreTests {
  private func question(_ name: String = "www.lab.test") throws -> AddressQuestion {
    AddressQuestion(try HostName(name), .ipv4)
  }

  private func answer(_ question: AddressQuestion, for duration: Duration = .seconds(3000)) -> StoredAnswer {
    let now = SystemClock().wallNow
    return StoredAnswer(
      question, .addresses([.ipv4(0x7f00_0001)]), provider: "one", asked: now, expires: now + duration,
      gone: now + duration)
  }

  private func error(_ body: () async throws(DirectDNSError) -> Void) async -> DirectDNSError? {
    do throws(DirectDNSError) {
      try await body()
      return nil
    } catch { return error }
  }

  @Test func `the contract of all stores holds`() async throws {
    try await Redis.running { server in
      for promise in AnswerStoreContract.all {
        _ = try await server.client("FLUSHALL")
        await #expect(throws: Never.self, "\(promise)") { try await promise.check(try server.store()) }
      }
    }
  }

  @Test func `the contract of stores with leases holds`() async throws {
    try await Redis.running { server in
      for promise in FleetStoreContract.all {
        _ = try await server.client("FLUSHALL")
        await #expect(throws: Never.self, "\(promise)") { try await promise.check(try server.store()) }
      }
    }
  }

  @Test func `an answer takes the place of bytes that are no text`() async throws {
    try await Redis.running { server in
      let store = try server.store()
      let key = "directdns:answer:1:A:www.lab.test"
      _ = try await server.client("EVAL", "return redis.call('SET', KEYS[1], string.char(255, 254))", "1", key)
      #expect(try await store.writeNewer([answer(question())]) == 1)
      #expect(try await store.read([question()]).count == 1)
    }
  }

  @Test func `programs that the process starts do not get the connection`() async throws {
    try await Redis.running { server in
      let store = try server.store()
      try await store.write([answer(question())])
      let connections = (0..<1024).filter { isConnected($0, to: server.port) }
      #expect(!connections.isEmpty && connections.allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
      withExtendedLifetime(store) {}
    }
  }

  private func isConnected(_ descriptor: Int32, to port: UInt16) -> Bool {
    var peer = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let found = unsafe withUnsafeMutablePointer(to: &peer) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getpeername(descriptor, $0, &size) == 0
      }
    }
    return found && peer.sin_family == AF_INET && UInt16(bigEndian: peer.sin_port) == port
  }

  @Test func `the server forgets by itself, answers and leases`() async throws {
    try await Redis.running { server in
      let store = try server.store()
      try await store.write([answer(question(), for: .seconds(100))])
      #expect(try await store.takeLease(on: question(), holder: "me", for: .seconds(60)))
      let left = try #require(Int(try await server.client("PTTL", "directdns:answer:1:A:www.lab.test")))
      #expect(left > 90_000 && left <= 100_000)
      let lease = try #require(Int(try await server.client("PTTL", "directdns:lease:A:www.lab.test")))
      #expect(lease > 50_000 && lease <= 60_000)
      // One that is over already takes the earlier one away.
      try await store.write([answer(question(), for: .seconds(-1))])
      #expect(try await store.read([question()]).isEmpty)
    }
  }

  @Test func `leases that are wanted at the same time are asked for in few round trips`() async throws {
    try await Redis.running { server in
      let store = try server.store(timeout: .seconds(10))
      _ = try await store.read([])
      func reads() async throws -> Int {
        let line = try await server.client("INFO", "stats").split(whereSeparator: \.isNewline)
          .first { $0.hasPrefix("total_reads_processed:") }
        return try #require(line.flatMap { Int($0.drop { $0 != ":" }.dropFirst()) })
      }
      let before = try await reads()
      // What comes first is held back, so that all others come while it is waited for.
      _ = try await server.client("CLIENT", "PAUSE", "1000", "ALL")
      let taken = try await withThrowingTaskGroup(of: Bool.self, returning: Int.self) { group in
        for number in 0..<300 {
          let wanted = try question("host-\(number % 200).lab.test")
          group.addTask { try await store.takeLease(on: wanted, holder: "\(number)", for: .seconds(60)) }
        }
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(taken == 200, "each lease has one holder")
      #expect(try await reads() - before < 100)
    }
  }

  @Test func `a lease that is refused fails, and those beside it do not`() async throws {
    try await Redis.running { server in
      let store = try server.store()
      // No string: whoever ends a lease gets an error of the server's.
      _ = try await server.client("RPUSH", "directdns:lease:A:list.lab.test", "x")
      let (foreign, own) = (try question("list.lab.test"), try question())
      #expect(try await store.takeLease(on: own, holder: "me", for: .seconds(60)))
      async let first = error { () throws(DirectDNSError) in try await store.endLease(on: foreign, holder: "me") }
      async let second = error { () throws(DirectDNSError) in try await store.endLease(on: own, holder: "me") }
      let (refused, ended) = await (first, second)
      #expect(refused?.code == .storeFailed && ended == nil)
      #expect(try await server.client("EXISTS", "directdns:lease:A:www.lab.test") == "0")
    }
  }

  @Test func `an answer that is never gone is kept, by either way of writing`() async throws {
    try await Redis.running { server in
      let store = try server.store()
      var lasting = try answer(question())
      lasting.gone = WallInstant(milliseconds: .max)
      #expect(try await store.writeNewer([lasting]) == 1)
      #expect(try await store.read([question()]) == [lasting])
      lasting.asked = lasting.asked + .seconds(1)
      #expect(try await store.writeNewer([lasting]) == 1)
      try await store.write([lasting])
      #expect(try await store.read([question()]) == [lasting])
    }
  }

  @Test func `keys that no question has are passed over`() async throws {
    try await Redis.running { server in
      let store = try server.store()
      try await store.write([answer(question())])
      for key in ["A:WWW.Lab.Test", "A:www.lab.test.", "A:a b", "MX:www.lab.test", "A:"] {
        _ = try await server.client("SET", "directdns:answer:1:\(key)", answer(question()).text)
      }
      let seen = try await store.allAnswers()
      #expect(seen.map(\.question) == [try question()])
    }
  }

  @Test func `clearing the store leaves other keys alone`() async throws {
    try await Redis.running { server in
      let store = try server.store()
      _ = try await server.client("SET", "theirs", "1")
      try await store.write((0..<200).map { answer(try question("host-\($0).lab.test")) })
      try await store.removeAll()
      #expect(try await server.client("DBSIZE") == "1")
    }
  }

  @Test func `a server that was restarted is connected to anew, without an error`() async throws {
    try await Redis.running { server in
      let store = try server.store()
      try await store.write([answer(question())])
      try await server.process.kill()
      let dead = await error { () throws(DirectDNSError) in _ = try await store.read([]) }
      #expect(dead?.message.contains("127.0.0.1:\(server.port)") == true)
      try await server.process.start()
      #expect(try await store.read([question()]).isEmpty)
      try await store.write([answer(question())])
      try await server.process.stop()
      try await server.process.start()
      // The writer's connection is a dead one: writing to it raises SIGPIPE at the latest the second time.
      for _ in 0..<3 { try await store.write([answer(question())]) }
      #expect(try await store.read([question()]).count == 1)
    }
  }

  @Test(arguments: ["restarted", "left by its client", "of a dead server"])
  func `a visit goes by one connection, and fails when that is another one by then`(_ fate: String) async throws {
    try await Redis.running { server in
      let store = try server.store()
      try await store.write((0..<2000).map { answer(try question("host-\($0).lab.test")) })
      let (pages, failure) = try await store.visitPages {
        switch fate {
        case "restarted":
          try await server.process.kill()
          try await server.process.start()
        case "of a dead server": try await server.process.kill()
        default: _ = try await server.client("CLIENT", "KILL", "TYPE", "normal")
        }
      }
      #expect(failure?.message.contains("broke in the middle, so not all of it was gone through. Do it again") == true)
      #expect(failure?.code == .storeFailed && pages == 1)
      if fate == "of a dead server" { try await server.process.start() }
      // The next one is another one, on another connection.
      try await store.write([answer(question())])
      let seen = try await store.allAnswers()
      #expect(seen.count == (fate == "left by its client" ? 2001 : 1))
    }
  }

  @Test func `what a visit shows is read where it was found`() async throws {
    try await Redis.running { server in
      let store = try server.store()
      try await store.write([answer(question())])
      // Another connection may lead to another server already; this one cannot be made, and none is needed.
      #expect(try await server.client("CONFIG", "SET", "maxclients", "1") == "OK")
      let seen = try await store.allAnswers()
      #expect(seen.count == 1)
    }
  }

  @Test func `a server that hangs is an error in time`() async throws {
    try await Redis.running { server in
      let store = try server.store(timeout: .milliseconds(500))
      _ = try await store.read([])
      try await server.process.pause()
      let hanging = await error { () throws(DirectDNSError) in _ = try await store.read([]) }
      #expect(hanging?.message.contains("in time") == true, "\(hanging?.message ?? "")")
      await server.process.resume()
      _ = try await store.read([])
    }
  }

  @Test func `a password is asked for and never shown`() async throws {
    try await Redis.running("--requirepass", "OPEN-SESAME") { server in
      let store = try server.store(password: "OPEN-SESAME")
      try await store.write([answer(question())])
      #expect(try await store.read([question()]).count == 1)
      for password in [nil, "WRONG-SESAME"] {
        let store = try server.store(password: password)
        let refused = await error { () throws(DirectDNSError) in _ = try await store.read([]) }
        #expect(refused?.message.contains("user and password") == true, "\(refused?.message ?? "")")
        #expect(refused?.description.contains("SESAME") == false)
      }
    }
  }

  @Test(arguments: [
    ("OPEN-SESAME", 99, "has no database 99"), ("WRONG-SESAME", 99, "Check user and password"),
    ("WRONG-SESAME", 1, "Check user and password"), (nil, 1, "Check user and password"),
  ])
  func `a wrong password and a wrong database number are told apart`(
    _ password: String?, _ database: Int, _ reason: String
  ) async throws {
    try await Redis.running("--requirepass", "OPEN-SESAME") { server in
      var configuration = try RedisStoreConfiguration(url: "\(server.url)/\(database)")
      configuration.password = password.map { .init($0) }
      let store = RedisAnswerStore(configuration)
      let refused = await error { () throws(DirectDNSError) in _ = try await store.read([]) }
      #expect(refused?.message.contains(reason) == true, "\(refused?.message ?? "")")
    }
  }

  @Test func `a full server is an error in words`() async throws {
    try await Redis.running("--maxmemory", "1", "--maxmemory-policy", "noeviction") { server in
      let store = try server.store()
      let answer = answer(try question())
      let full = await error { () throws(DirectDNSError) in try await store.write([answer]) }
      #expect(full?.message.contains("full") == true, "\(full?.message ?? "")")
    }
  }
}
