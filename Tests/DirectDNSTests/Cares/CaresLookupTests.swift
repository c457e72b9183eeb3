// SPDX-License-Identifier: Apache-2.0
import CDirectDNSCares
import DirectDNSTesting
import Foundation
import Testing

@testable import DirectDNS

/// c-ares against a name server on loopback, by the loop that the whole process shares.
@Suite(.timeLimit(.minutes(1)))
struct CaresLookupTests {
  private static let records = RecordTable { table in
    table.add("www.shop.test", "192.0.2.1", "192.0.2.2", ttl: 60)
    table.add("dual.shop.test", "192.0.2.3", "2001:db8::3", ttl: 90)
    table.add("six.shop.test", "2001:db8::6", ttl: 40)
    table.alias("alias.shop.test", to: "mid.shop.test", ttl: 30)
    table.alias("mid.shop.test", to: "www.shop.test", ttl: 20)
    table.alias("dangling.shop.test", to: "gone.shop.test", ttl: 20)
    table.alias("loop.shop.test", to: "loop.shop.test", ttl: 20)
    table.empty("empty.shop.test")
    table.fail("broken.shop.test", .serverFailure)
    table.fail("refused.shop.test", .refused)
    table.add("many.shop.test", (0..<200).map { IPAddress.ipv4(0xC000_0200 + $0) }, ttl: 50)
  }

  private func withServer(_ body: (FakeNameServer) async throws -> Void) async throws {
    let server = try await FakeNameServer.start(records: Self.records)
    try await body(server)
    await server.stop()
  }

  private func lookUp(
    _ name: String, _ family: IPAddress.Family = .ipv4, at server: FakeNameServer?, servers: String? = nil,
    timeout: Int64 = 5000
  ) async -> Result<CaresLookup.Found, CaresError> {
    let lookup = CaresLookup(
      host: HostName(canonical: name), family: family, servers: servers ?? server?.serverAddress,
      timeout: timeout)
    return await lookup.run()
  }

  // MARK: Answers

  @Test(
    arguments: [
      ("www.shop.test", IPAddress.Family.ipv4, ["192.0.2.1", "192.0.2.2"], 60),
      ("six.shop.test", .ipv6, ["2001:db8::6"], 40),
      ("dual.shop.test", .ipv4, ["192.0.2.3"], 90), ("dual.shop.test", .ipv6, ["2001:db8::3"], 90),
      ("alias.shop.test", .ipv4, ["192.0.2.1", "192.0.2.2"], 20),
    ] as [(String, IPAddress.Family, [String], UInt32)])
  func `a lookup finds addresses and the smallest TTL`(
    _ name: String, _ family: IPAddress.Family, _ addresses: [String], _ ttl: UInt32
  ) async throws {
    try await withServer { server async throws in
      let found = try await lookUp(name, family, at: server).get()
      #expect(found.addresses.map(\.description).sorted() == addresses && found.ttl == ttl)
    }
  }

  @Test(
    arguments: [(0, 0), (60, 60), (Int32.max, 2_147_483_647), (.min, 2_147_483_648), (-1, 4_294_967_294)]
      as [(Int32, UInt32)])
  func `a TTL with the high bit is a large one`(_ ttl: Int32, _ expected: UInt32) {
    #expect(CaresLookup.Found.lifetime(ttl) == expected)
  }

  @Test func `the end of a chain is the canonical name`() async throws {
    try await withServer { server async throws in
      #expect(try await lookUp("alias.shop.test", at: server).get().canonicalName == "www.shop.test")
      let plain = try await lookUp("www.shop.test", at: server).get().canonicalName
      #expect(plain == nil || plain == "www.shop.test")
    }
  }

  @Test func `a bounded number of addresses is kept`() async throws {
    try await withServer { server async throws in
      let found = try await lookUp("many.shop.test", at: server).get()
      #expect(
        found.addresses.count == Answer.addressLimit && Set(found.addresses).count == Answer.addressLimit)
      #expect(server.queries.map(\.transport) == [.udp, .tcp], "200 records do not fit a datagram")
    }
  }

  // MARK: No answers

  @Test(arguments: [
    ("gone.shop.test", CaresError.nameNotFound), ("empty.shop.test", .noAddress),
    ("six.shop.test", .noAddress),
  ])
  func `the two negative answers are told apart`(_ name: String, _ error: CaresError) async throws {
    try await withServer { server async throws in
      #expect(await lookUp(name, at: server).failure == error)
    }
  }

  @Test(arguments: ["dangling.shop.test", "loop.shop.test", "broken.shop.test", "refused.shop.test"])
  func `a chain that leads nowhere, SERVFAIL and REFUSED give no address`(_ name: String) async throws {
    try await withServer { server async throws in
      #expect(await lookUp(name, at: server).failure != nil)
    }
  }

  // MARK: Time

  @Test func `a server that never answers costs the lookup's own time`() async throws {
    try await withServer { server async throws in
      server.misbehave(.drop)
      #expect(await lookUp("www.shop.test", at: server, timeout: 120).failure == .timedOut)
      // c-ares by itself asks again after 87 ms, and gives up a quarter of a second later.
      #expect(server.queries.count <= 2)
    }
  }

  @Test(arguments: [0, -1, .min] as [Int64])
  func `a lookup without time ends at once`(_ timeout: Int64) async throws {
    try await withServer { server async throws in
      server.misbehave(.drop)
      #expect(await lookUp("www.shop.test", at: server, timeout: timeout).failure == .timedOut)
    }
  }

  @Test func `a lookup with all the time there is ends by its answer`() async throws {
    try await withServer { server async throws in
      let longest = Duration.seconds(Int64.max).wholeNanoseconds / 1_000_000
      #expect(try await lookUp("www.shop.test", at: server, timeout: longest).get().ttl == 60)
    }
  }

  // MARK: Servers that lie

  @Test func `a truncated answer is asked for again by TCP`() async throws {
    try await withServer { server async throws in
      server.misbehave(.truncated)
      #expect(try await lookUp("www.shop.test", at: server).get().addresses.count == 2)
      #expect(server.queries.map(\.transport) == [.udp, .tcp])
    }
  }

  @Test(arguments: [NameServerMisbehaviour.wrongID, .wrongQuestion, .garbage])
  func `an answer to something else is passed over`(_ what: NameServerMisbehaviour) async throws {
    try await withServer { server async throws in
      server.misbehave(what)
      #expect(await lookUp("www.shop.test", at: server, timeout: 200).failure != nil)
    }
  }

  @Test func `the next server is asked when the first is gone`() async throws {
    try await withServer { server async throws in
      let gone = try await FakeNameServer.start()
      await gone.stop()
      let servers = gone.serverAddress + "," + server.serverAddress
      #expect(try await lookUp("www.shop.test", at: nil, servers: servers).get().addresses.count == 2)
    }
  }

  @Test(
    arguments: [(5000, 700), (1500, 700), (1399, 350), (600, 175), (300, 87), (150, 87), (1, 87)] as [(Int64, Int32)])
  func `a server has at most half of a lookup's time, of a few steps, until the next one is asked`(
    _ lookup: Int64, _ server: Int32
  ) {
    #expect(CaresChannel.Kind.timeout(within: lookup) == server)
  }

  @Test func `the next server is asked in time when the first is silent`() async throws {
    try await withServer { server async throws in
      let mute = try await FakeNameServer.start()
      mute.misbehave(.drop)
      let servers = mute.serverAddress + "," + server.serverAddress
      // Its answer may come too late on a busy machine.
      _ = await lookUp("www.shop.test", at: nil, servers: servers, timeout: 600)
      await server.waitForQueries(1)
      #expect(mute.queries.first?.name == server.queries.first?.name && !mute.queries.isEmpty)
      await mute.stop()
    }
  }

  // From 1.32 on c-ares by itself waits five times as long as a server took before.
  @Test func `the next server is asked in time, however slowly the first has answered before`() async throws {
    try await withServer { server async throws in
      let slow = try await FakeNameServer.start(records: Self.records)
      slow.misbehave(.delay(.milliseconds(150)))
      let servers = slow.serverAddress + "," + server.serverAddress
      for _ in 0..<4 { _ = await lookUp("www.shop.test", at: nil, servers: servers, timeout: 600) }
      slow.behave()
      slow.misbehave(.drop)
      _ = await lookUp("dual.shop.test", at: nil, servers: servers, timeout: 600)
      await server.waitForQueries(1)
      await slow.stop()
    }
  }

  // From 1.31 on c-ares by itself remembers answers for up to an hour.
  @Test func `each lookup asks anew`() async throws {
    try await withServer { server async throws in
      for count in 1...2 {
        #expect(try await lookUp("www.shop.test", at: server).get().ttl == 60)
        #expect(server.queries.count >= count)
      }
    }
  }

  @Test(arguments: [0 as UInt32, 1, 604_800, 0x7fff_ffff])
  func `a TTL is handed on as it is`(_ ttl: UInt32) async throws {
    try await withServer { server async throws in
      server.misbehave(.ttl(ttl))
      #expect(try await lookUp("www.shop.test", at: server).get().ttl == ttl)
    }
  }

  @Test(arguments: [0x8000_0000 as UInt32, .max])
  func `a TTL with its high bit set is never a negative one`(_ ttl: UInt32) async throws {
    try await withServer { server async throws in
      server.misbehave(.ttl(ttl))
      let answer = try await SystemDNS(servers: server.serverAddress).answer(
        to: HostName(canonical: "www.shop.test"), family: .ipv4, timeout: .seconds(5))
      #expect(answer.addresses.count == 2)
    }
  }

  @Test func `a list of servers that is none is an error, not a question to someone else`() async {
    guard case .failed(let reason) = await lookUp("www.shop.test", at: nil, servers: "nonsense:x").failure
    else {
      Issue.record("it was taken")
      return
    }
    #expect(reason.contains("nonsense"))
  }

  @Test func `HOSTALIASES renames nothing`() async throws {
    // In a process of its own: the environment belongs to all threads.
    await #expect(processExitsWith: .success) {
      let file = FileManager.default.temporaryDirectory.appending(path: "aliases-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: file) }
      try Data("printer www.shop.test\n".utf8).write(to: file)
      unsafe setenv("HOSTALIASES", file.path, 1)
      let server = try await FakeNameServer.start(records: CaresLookupTests.records)
      let lookup = CaresLookup(
        host: HostName(canonical: "printer"), family: .ipv4, servers: server.serverAddress, timeout: 5000)
      #expect(await lookup.run().failure != nil)
      #expect(!server.queries.isEmpty && !server.queries.contains { $0.name == "www.shop.test" })
      await server.stop()
    }
  }

  @Test func `many lookups at once leave nothing behind`() async throws {
    await #expect(processExitsWith: .success) {
      let server = try await FakeNameServer.start(records: CaresLookupTests.records)
      let address = server.serverAddress
      func round() async {
        await withTaskGroup(of: Void.self) { group in
          for number in 0..<60 {
            let name = ["www.shop.test", "gone.shop.test", "alias.shop.test"][number % 3]
            let lookup = CaresLookup(
              host: HostName(canonical: name), family: .ipv4, servers: address, timeout: 5000)
            group.addTask { _ = await lookup.run() }
          }
        }
      }
      await round()
      let before = ProcessState.descriptors + 4
      await round()
      #expect(await ProcessState.eventually { ProcessState.descriptors <= before })
    }
  }
}

struct CaresErrorTests {
  @Test(arguments: [
    (directdns_ares_notfound, CaresError.nameNotFound), (directdns_ares_nodata, .noAddress),
    (directdns_ares_timeout, .timedOut), (directdns_ares_refused, .refused),
    (directdns_ares_servfail, .serverFailed), (directdns_ares_connrefused, .noServer),
  ])
  func `the codes that a lookup tells apart have cases of their own`(_ code: Int32, _ error: CaresError) {
    #expect(CaresError(code) == error)
  }

  @Test(arguments: [-1, 9999])
  func `any other code is a failure in c-ares' own words`(_ code: Int32) {
    guard case .failed(let reason) = CaresError(code) else {
      Issue.record("another case")
      return
    }
    #expect(!reason.isEmpty && CaresError(code).description == reason)
  }

  @Test func `an error says what happened`() {
    #expect(
      CaresError.nameNotFound.description == "name not found"
        && CaresError.noAddress.description == "no address")
    #expect(
      CaresError.timedOut.description == "timed out" && CaresError.refused.description == "refused the query")
    // Of the two the first is all that c-ares 1.18 has for a server that says SERVFAIL.
    for error in [CaresError.noServer, .serverFailed] { #expect(error.description.contains("SERVFAIL")) }
  }
}
