// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSRedis
import DirectDNSSQLite
import Foundation
import Testing

@testable import DirectDNSTesting

/// Several processes on one file.
@Suite(.timeLimit(.minutes(1)))
struct SharedFileTests {
  @Test func `processes that make a file together and write to it lose nothing`() async throws {
    let path = try ServerFixture.newFolder("sqlite").appending(path: "new/answers.sqlite").path
    let members = try (0..<4).map { try Member("write", path, "member\($0)", "100") }
    for member in members { #expect(try await member.line() == "written\n") }
    let store = SQLiteAnswerStore(SQLiteStoreConfiguration(path: path))
    for member in 0..<4 {
      let questions = try (0..<100).map { AddressQuestion(try HostName("member\(member)-\($0).example.net"), .ipv4) }
      #expect(try await store.read(questions).count == 100)
    }
  }

  @Test func `a process that is killed while it writes leaves a file that works`() async throws {
    let path = try ServerFixture.newFolder("sqlite").appending(path: "answers.sqlite").path
    let store = SQLiteAnswerStore(SQLiteStoreConfiguration(path: path))
    for round in 0..<5 {
      let member = try Member("write", path, "round\(round)", "100000")
      let first = AddressQuestion(try HostName("round\(round)-0.example.net"), .ipv4)
      // The other process does not tell when it has written; the file does.
      while try await store.read([first]).isEmpty { try await Task.sleep(for: .milliseconds(2)) }
      member.kill()
      #expect(try await store.read([first]).count == 1)
    }
    #expect(!FileManager.default.fileExists(atPath: path + ".damaged"))
  }
}

/// The file that `dnsctl` leaves behind, in processes of their own.
@Suite(.timeLimit(.minutes(1)))
struct StoreFileTests {
  private func dnsctl(_ arguments: String...) async throws -> (status: Int32, output: String) {
    // A shell keeps the error text beside the output.
    let (status, output) = try await ServerFixture.run(
      "sh", ["-c", "exec \"$@\" 2>&1", "sh", ServerFixture.product("dnsctl").path] + arguments)
    return (status, String(decoding: output, as: UTF8.self))
  }

  @Test func `a copy of the file alone has all that a command stored, also while another process uses it`() async throws
  {
    var records = RecordTable()
    for number in 0..<20 { records.add("host-\(number).lab.test", "192.0.2.\(number)", ttl: 300) }
    let provider = try await FakeProvider.start(records: records)
    let names = (0..<20).map { "host-\($0).lab.test" }
    let questions = try names.map { AddressQuestion(try HostName($0), .ipv4) }
    for isShared in [false, true] {
      let folder = try ServerFixture.newFolder("copy")
      let (path, copy) = (folder.appending(path: "answers.sqlite").path, folder.appending(path: "copy.sqlite").path)
      let other = SQLiteAnswerStore(SQLiteStoreConfiguration(path: path))
      if isShared { try await other.write([]) }
      let hosts = folder.appending(path: "hosts")
      try names.joined(separator: "\n").write(to: hosts, atomically: false, encoding: .utf8)
      let warmed = try await dnsctl(
        "warmup", "--provider", "json+\(provider.url("/resolve"))", "--no-system", "--family", "ipv4", "--store", path,
        "--hosts", hosts.path)
      #expect(warmed.status == 0, "\(warmed.output)")
      try FileManager.default.copyItem(atPath: path, toPath: copy)
      #expect(try await SQLiteAnswerStore(SQLiteStoreConfiguration(path: copy)).read(questions).count == 20)
      // What looks into the store does it, too.
      #expect(try await dnsctl("cache", "forget", names[0], "--store", path).status == 0)
      try FileManager.default.removeItem(atPath: copy)
      try FileManager.default.copyItem(atPath: path, toPath: copy)
      #expect(try await SQLiteAnswerStore(SQLiteStoreConfiguration(path: copy)).read(questions).count == 19)
      withExtendedLifetime(other) {}
    }
    await provider.stop()
  }
}

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
      #expect(try await store.takeLease(on: question(), holder: "me", for: .seconds(6)))
      let left = try #require(Int(try await server.client("PTTL", "directdns:answer:1:A:www.lab.test")))
      #expect(left > 90_000 && left <= 100_000)
      let lease = try #require(Int(try await server.client("PTTL", "directdns:lease:A:www.lab.test")))
      #expect(lease > 5000 && lease <= 6000)
      // One that is over already takes the earlier one away.
      try await store.write([answer(question(), for: .seconds(-1))])
      #expect(try await store.read([question()]).isEmpty)
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
      let seen = Watched<[AddressQuestion]>([])
      try await store.visit { page in
        seen.change { $0 += page.map(\.question) }
        return true
      }
      #expect(seen.value == [try question()])
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
      let seen = Watched(0)
      try await store.visit { page in
        seen.change { $0 += page.count }
        return true
      }
      #expect(seen.value == (fate == "left by its client" ? 2001 : 1))
    }
  }

  @Test func `what a visit shows is read where it was found`() async throws {
    try await Redis.running { server in
      let store = try server.store()
      try await store.write([answer(question())])
      // Another connection may lead to another server already; this one cannot be made, and none is needed.
      #expect(try await server.client("CONFIG", "SET", "maxclients", "1") == "OK")
      let seen = Watched(0)
      try await store.visit { page in
        seen.change { $0 += page.count }
        return true
      }
      #expect(seen.value == 1)
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

  // MARK: Lookups

  private func configuration(_ provider: Unbound, _ server: Redis) async throws -> ResolverConfiguration {
    var configuration = ResolverConfiguration(providers: [
      ProviderConfiguration(
        provider: MessageProvider(name: "first", url: try WebURL(provider.dohURL)), bootstrap: [.ipv4(0x7f00_0001)])
    ])
    configuration.usesSystemDNS = false
    configuration.families = .ipv4
    configuration.trust = TrustStore(privateAuthorities: [try await LabCertificate.shared.caFile])
    configuration.store = try server.store()
    return configuration
  }

  @Test(.enabled(if: ServerFixture.missing.isEmpty, "not every server is installed"))
  func `the holder of a lease is killed: another member asks after its patience`() async throws {
    try await Redis.running { server in
      try await Unbound.running { provider in
        let resolver = try DirectResolver(try await configuration(provider, server))
        // Connections stand: what is measured is the wait.
        _ = try await resolver.resolve("chain.lab.test")
        let holder = try Member("hold", server.url, "www.lab.test")
        #expect(try await holder.line() == "held\n")
        holder.kill()
        let begun = ContinuousClock.now
        let resolution = try await resolver.resolve("www.lab.test")
        let took = ContinuousClock.now - begun
        #expect(resolution.source == .provider("first"))
        #expect(took >= .milliseconds(290) && took < .seconds(4), "\(took)")
        await resolver.shutdown(flushingWithin: .seconds(2))
      }
    }
  }

  @Test(.enabled(if: ServerFixture.missing.isEmpty, "not every server is installed"))
  func `what one process learned serves the next, and a dead Redis fails no lookup`() async throws {
    try await Redis.running { server in
      try await Unbound.running { provider in
        let first = try DirectResolver(try await configuration(provider, server))
        _ = try await first.resolve("www.lab.test")
        #expect(await first.shutdown(flushingWithin: .seconds(2)).unwritten == 0)
        let second = try DirectResolver(try await configuration(provider, server))
        #expect(try await second.resolve("www.lab.test").source == .store)
        try await server.process.kill()
        for number in 0..<20 {
          let host = "host-0000\(number + 10).lab.test"
          #expect(try await second.resolve(host).source == .provider("first"))
        }
        let flush = await second.shutdown(flushingWithin: .seconds(2))
        #expect(flush.unwritten == 20)
        #expect(flush.reason?.code == .storeFailed)
        try await server.process.start()
      }
    }
  }

  @Test func `a fleet whose Redis is killed fails no lookup: each member asks for itself`() async throws {
    let names = 400
    var records = RecordTable()
    for number in 0..<names { records.add("host-\(number).example.net", "192.0.2.\(number % 256)", ttl: 600) }
    let provider = try await FakeProvider.start(records: records)
    try await Redis.running { server in
      let members = try (0..<4).map { _ in
        try Member("look", server.url, provider.baseURL + "/resolve", "\(names)", "3", "100", "ahead")
      }
      // Under way, with names that nobody has asked for yet.
      await provider.waitForRequests(100)
      try await server.process.kill()
      for member in members {
        // Lookups, failed, stale, answers that were not stored, milliseconds of the slowest.
        let figures = try await member.line().split(separator: " ").compactMap { Int($0) }
        try #require(figures.count == 4 || figures.count == 5)
        #expect(figures[0] > 20)
        #expect(figures[1] == 0, "\(figures)")
        #expect(figures[3] > 0, "\(figures)")
      }
      try await server.process.start()
    }
    // Without leases a name is asked for by each member that wants it.
    #expect(Set(provider.requests.compactMap(\.name)).count < provider.requests.count)
    await provider.stop()
  }
}
