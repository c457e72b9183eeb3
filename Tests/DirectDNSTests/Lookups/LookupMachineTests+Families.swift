// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// Names of which one family fares otherwise than the other.
extension LookupMachineTests {
  // MARK: A silent server

  @Test func `where the first server is silent both families have a hedge, in the first lookup too`() throws {
    var machine = machine("one", "two") {
      $0.families = .any
      $0.hedges = true
    }
    let number = try #require(begin(&machine, request(.any)))
    #expect(words(&machine) == ["send 1 to 0: [AAAA]", "send 2 to 0: [A]"])
    machine.timePassed(at: Sample.at(0.15))
    #expect(words(&machine) == ["send 3 to 1: [AAAA]", "send 4 to 1: [A]"])
    machine.ended(3, reply(.negative(.noAddress), asked: 0.15), at: Sample.at(0.16))
    machine.ended(4, reply(.addresses("192.0.2.1"), asked: 0.15), at: Sample.at(0.16))
    #expect(words(&machine).contains("answer \(number): [\"192.0.2.1\"] fresh"))
  }

  @Test func `a server that is silent for callers with little time and several names goes last`() throws {
    var machine = machine("one", "two") { $0.usesSystemDNS = false }
    for (round, name) in ["a.test", "b.test", "c.test", "d.test"].enumerated() {
      let start = Double(round)
      var request = request(timeout: .milliseconds(900))
      request.host = Sample.name(name)
      _ = try #require(begin(&machine, request, at: start))
      let query = 2 * round + 1
      guard round < 3 else { break }
      #expect(words(&machine) == ["send \(query) to 0: [A]"])
      machine.timePassed(at: Sample.at(start + 0.54))
      #expect(words(&machine) == ["cancel \(query)", "send \(query + 1) to 1: [A]"])
      machine.ended(
        Number(rawValue: query + 1), reply(.addresses("192.0.2.1"), asked: start + 0.54), at: Sample.at(start + 0.55))
      _ = words(&machine)
    }
    #expect(words(&machine) == ["send 7 to 1: [A]"])
  }

  // MARK: Stale beside fresh

  /// A machine that knows both families of a name since 0 s, for 100 s.
  private func knowing() throws -> LookupMachine {
    var machine = machine {
      $0.families = .any
      $0.usesSystemDNS = false
    }
    _ = try #require(begin(&machine, request(.any)))
    machine.ended(1, reply(.addresses("2001:db8::1", ttl: 100)), at: Sample.at(0))
    machine.ended(2, reply(.addresses("192.0.2.1", ttl: 100)), at: Sample.at(0))
    _ = words(&machine)
    return machine
  }

  @Test(arguments: [(ttl: UInt32(0), fails: true), (100, true), (0, false), (100, false)])
  func `the stale addresses of a family whose refresh fails or is late stay beside the other's new ones`(
    _ row: (ttl: UInt32, fails: Bool)
  ) throws {
    var machine = try knowing()
    let number = try #require(begin(&machine, request(.any), at: 1000))
    #expect(words(&machine) == ["send 3 to 0: [AAAA]", "send 4 to 0: [A]"])
    machine.ended(3, reply(.addresses("2001:db8::2", ttl: row.ttl), asked: 1000), at: Sample.at(1000))
    if row.fails { machine.ended(4, failed, at: Sample.at(1000)) } else { machine.timePassed(at: Sample.at(1000.05)) }
    #expect(words(&machine) == ["answer \(number): [\"2001:db8::2\", \"192.0.2.1\"] stale"])
  }

  @Test func `a family that is found to have no address any more is left out`() throws {
    var machine = try knowing()
    let number = try #require(begin(&machine, request(.any), at: 1000))
    machine.ended(3, reply(.addresses("2001:db8::2", ttl: 100), asked: 1000), at: Sample.at(1000))
    machine.ended(4, reply(.negative(.noAddress), asked: 1000), at: Sample.at(1000))
    #expect(words(&machine).last == "answer \(number): [\"2001:db8::2\"] fresh")
  }

  @Test func `stale addresses stay for the lookups that come while their refresh may not begin`() throws {
    var machine = try knowing()
    _ = begin(&machine, request(.any), at: 1000)
    machine.ended(3, reply(.addresses("2001:db8::2", ttl: 100), asked: 1000), at: Sample.at(1000))
    machine.ended(4, failed, at: Sample.at(1000))
    _ = words(&machine)
    func known(_ change: (inout LookupRequest) -> Void = { _ in }) -> Resolution? {
      var request = request(.any)
      change(&request)
      guard case .known(.success(let resolution)) = machine.begin(request, at: Sample.at(1001)) else { return nil }
      return resolution
    }
    let both = known()
    #expect(both?.texts == ["2001:db8::2", "192.0.2.1"] && both?.freshness == .stale)
    #expect(both?.expiredFor == .seconds(901) && both?.age == .seconds(1001))
    #expect(known { $0.prefersIPv6 = false }?.texts == ["192.0.2.1", "2001:db8::2"])
    let without = [known { $0.expired = .refused }, known { $0.wanted = .ipv6 }, known { $0.purpose = .connecting }]
    #expect(without.map { $0?.texts } == Array(repeating: ["2001:db8::2"], count: 3))
    #expect(without.map { $0?.freshness } == [.fresh, .fresh, .fresh])
  }

  // MARK: Nothing to keep

  @Test(arguments: [true, false])
  func `a family that brought nothing to keep is not asked for by each lookup, though its end came first`(
    _ fails: Bool
  ) throws {
    var machine = machine {
      $0.families = .any
      $0.usesSystemDNS = false
    }
    _ = try #require(begin(&machine, request(.any)))
    machine.ended(1, fails ? failed : reply(.negative(.noAddress, ttl: nil)), at: Sample.at(0.01))
    machine.ended(2, reply(.addresses("192.0.2.1", ttl: 100)), at: Sample.at(0.02))
    _ = words(&machine)
    // One that failed is asked for behind an answer, once, when its failure is forgotten.
    for (seconds, asks) in [(0.5, false), (40, fails), (40.1, false)] {
      guard case .known(.success(let resolution)) = machine.begin(request(.any), at: Sample.at(seconds)) else {
        Issue.record("it waits for the other family")
        return
      }
      #expect(resolution.texts == ["192.0.2.1"] && words(&machine) == (asks ? ["send 3 to 0: [AAAA]"] : []))
    }
  }

  @Test func `a family that the request rate left no time for is asked for behind the next answer`() throws {
    var machine = machine {
      $0.families = .any
      $0.usesSystemDNS = false
      $0.providers[0].rateLimit = RateLimit(perSecond: 0.1, burst: 1)
    }
    _ = try #require(begin(&machine, request(.any)))
    #expect(words(&machine) == ["send 1 to 0: [AAAA]"])
    machine.ended(1, reply(.addresses("2001:db8::1", ttl: 3600)), at: Sample.at(0.01))
    _ = words(&machine)
    // The next request may be sent after 10 s.
    let steps: [(Double, [String])] = [(1, []), (11, ["send 2 to 0: [A]"])]
    for (seconds, asked) in steps {
      guard case .known(.success(let resolution)) = machine.begin(request(.any), at: Sample.at(seconds)) else {
        Issue.record("it waits for the other family")
        return
      }
      #expect(resolution.texts == ["2001:db8::1"] && words(&machine) == asked)
      // That nothing could be sent counts as a failure each time: it is not tried by each lookup.
      guard asked.isEmpty else { continue }
      for (later, refresh) in [(0.9, false), (1, true)] {
        let found = machine.cache.find(Self.host, .any, .allowed, prefersIPv6: true, at: Sample.at(seconds + later))
        #expect(found?.verdict == .serve(.ipv6, .fresh, refresh: refresh))
      }
    }
  }

  @Test func `a family that a caller with little time gave up is asked for behind the answer that another waited for`()
    throws
  {
    var machine = machine {
      $0.families = .any
      $0.usesSystemDNS = false
    }
    _ = try #require(begin(&machine, request(.ipv4)))
    _ = try #require(begin(&machine, request(.any, timeout: .milliseconds(500))))
    #expect(words(&machine) == ["send 1 to 0: [A]", "send 2 to 0: [AAAA]"])
    let late = QueryMachine.Reply(
      ProviderFailure(HTTPTransportError.timedOut), .timedOut, asked: Sample.at(0),
      to: .one(AddressQuestion(Self.host, .ipv6)))
    machine.ended(2, late, at: Sample.at(0.49))
    machine.timePassed(at: Sample.at(0.5))
    machine.ended(1, reply(.addresses("192.0.2.1", ttl: 3600)), at: Sample.at(1))
    _ = words(&machine)
    #expect(begin(&machine, request(.any), at: 2) == nil)
    #expect(words(&machine) == ["send 3 to 0: [AAAA]"])
  }

  /// A machine that has the IPv6 address of a name for an hour, and knows that the IPv4 address has TTL 0.
  private func knowingUnkept(endsFirst: Bool) throws -> LookupMachine {
    var machine = machine {
      $0.families = .any
      $0.usesSystemDNS = false
    }
    _ = try #require(begin(&machine, request(.any)))
    let queries: [QueryMachine.QueryNumber] = endsFirst ? [2, 1] : [1, 2]
    for query in queries {
      machine.ended(
        query, reply(query == 1 ? .addresses("2001:db8::1", ttl: 3600) : .addresses("192.0.2.1", ttl: 0)),
        at: Sample.at(0))
    }
    _ = words(&machine)
    return machine
  }

  @Test(arguments: [true, false])
  func `a family of TTL 0 is asked for by each lookup that hands out addresses, beside one that is kept`(
    _ endsFirst: Bool
  ) throws {
    var machine = try knowingUnkept(endsFirst: endsFirst)
    for query in 3...5 {
      let start = Double(query) * 10
      let number = try #require(begin(&machine, request(.any), at: start))
      #expect(words(&machine) == ["send \(query) to 0: [A]"])
      machine.ended(
        Number(rawValue: query), reply(.addresses("192.0.2.\(query)", ttl: 0), asked: start),
        at: Sample.at(start + 0.04))
      #expect(words(&machine) == ["answer \(number): [\"2001:db8::1\", \"192.0.2.\(query)\"] fresh"])
    }
    let late = try #require(begin(&machine, request(.any), at: 60))
    machine.timePassed(at: Sample.at(60.05))
    #expect(words(&machine) == ["send 6 to 0: [A]", "answer \(late): [\"2001:db8::1\"] fresh"])
    // It may have a lifetime some day.
    machine.ended(6, reply(.addresses("192.0.2.6", ttl: 100), asked: 60), at: Sample.at(60.1))
    guard case .known(.success(let both)) = machine.begin(request(.any), at: Sample.at(61)) else {
      Issue.record("it is asked for again")
      return
    }
    #expect(both.texts == ["2001:db8::1", "192.0.2.6"])
  }

  @Test func `a family of TTL 0 comes first where it is the preferred one, and the answer is of no use later`() throws {
    var machine = try knowingUnkept(endsFirst: true)
    var request = request(.any)
    request.prefersIPv6 = false
    let number = try #require(begin(&machine, request, at: 10))
    machine.ended(3, reply(.addresses("192.0.2.3", ttl: 0), asked: 10), at: Sample.at(10))
    let ending = machine.takeEndings().last
    guard case .answer(number, .success(let found), _)? = ending else {
      Issue.record("no answer")
      return
    }
    #expect(found.texts == ["192.0.2.3", "2001:db8::1"] && found.timeToLive == .zero && found.age == .seconds(10))
  }

  @Test func `who connects, or wants the other family alone, is not the one for whom a family of TTL 0 is asked for`()
    throws
  {
    var machine = try knowingUnkept(endsFirst: true)
    for change: (inout LookupRequest) -> Void in [{ $0.purpose = .connecting }, { $0.wanted = .ipv6 }] {
      var request = request(.any)
      change(&request)
      guard case .known(.success(let found)) = machine.begin(request, at: Sample.at(10)) else {
        Issue.record("it waits")
        return
      }
      #expect(found.texts == ["2001:db8::1"] && words(&machine) == [])
    }
  }

  @Test func `a family of TTL 0 that fails is asked for again when the failure is forgotten`() throws {
    var machine = try knowingUnkept(endsFirst: true)
    let number = try #require(begin(&machine, request(.any), at: 10))
    machine.ended(3, failed, at: Sample.at(10))
    #expect(words(&machine).last == "answer \(number): [\"2001:db8::1\"] fresh")
    for (seconds, asks) in [(10.5, false), (11, true)] {
      _ = machine.begin(request(.any), at: Sample.at(seconds))
      #expect(words(&machine).contains("send 4 to 0: [A]") == asks)
    }
  }

  @Test func `a name that has no address of either family to keep leaves nothing in the cache`() throws {
    var machine = machine { $0.families = .any }
    _ = try #require(begin(&machine, request(.any)))
    for query: QueryMachine.QueryNumber in [1, 2] {
      machine.ended(query, reply(.negative(.noAddress, ttl: nil)), at: Sample.at(0))
    }
    #expect(machine.cache.count == 0)
  }

  @Test func `a family that failed beside the other's answer is asked for at once after a reload`() throws {
    var machine = machine {
      $0.usesSystemDNS = false
      $0.cache.minimumFailureTTL = .seconds(20)
    }
    _ = try #require(begin(&machine, request(.any)))
    machine.ended(1, reply(.addresses("2001:db8::1", ttl: 3600)), at: Sample.at(0))
    machine.ended(2, failed, at: Sample.at(0))
    _ = words(&machine)
    #expect(begin(&machine, request(.any), at: 2) == nil && words(&machine) == [])
    var configuration = machine.settings.configuration
    configuration.timeout = .seconds(6)
    machine.update(ResolverSettings(configuration, system: Unused()), at: Sample.at(3))
    #expect(begin(&machine, request(.any), at: 3) == nil)
    #expect(words(&machine) == ["send 3 to 0: [A]"])
  }

  // MARK: The system's DNS alone

  @Test func `where there are no providers the system's word counts`() throws {
    var machine = machine { $0.providers = [] }
    let number = try #require(begin(&machine, request()))
    let query = try #require(system(words(&machine)))
    machine.systemAnswered(query, .success(.negative(.nameNotFound)), at: Sample.at(0.1))
    #expect(words(&machine) == ["fail \(number): nameNotFound"])
  }

  // MARK: A store

  private func stored(_ text: String, _ life: CacheLife) -> StoreReading<CacheEntry> {
    .found(CacheEntry(content: .addresses([Sample.address(text)]), canonicalName: nil, source: 2, life: life))
  }

  @Test func `an expired answer of a store serves 300 ms after the lookup began, whatever it waited for before`() throws
  {
    var machine = machine(hasStore: true) { $0.families = .any }
    let number = try #require(begin(&machine, request(.any), at: 10_000))
    #expect(words(&machine) == ["store 2", "store 3"])
    machine.storeRead(2, .nothing, at: Sample.at(10_000.01))
    machine.storeRead(3, stored("192.0.2.7", Sample.life(5000, 5100)), at: Sample.at(10_000.01))
    #expect(words(&machine) == ["send 1 to 0: [AAAA]"])
    machine.timePassed(at: Sample.at(10_000.06))
    #expect(words(&machine) == ["store 4"])
    machine.storeRead(4, .nothing, at: Sample.at(10_000.07))
    machine.timePassed(at: Sample.at(10_000.3).before)
    #expect(words(&machine) == ["send 2 to 0: [A]"])
    machine.timePassed(at: Sample.at(10_000.3))
    #expect(words(&machine) == ["answer \(number): [\"192.0.2.7\"] stale"])
  }

  @Test func `an expired answer of a store serves as soon where the cache has a denial that has expired`() throws {
    var machine = machine(hasStore: true)
    _ = try #require(begin(&machine, request(), at: 9000))
    machine.storeRead(2, .nothing, at: Sample.at(9000))
    machine.ended(1, reply(.negative(.nameNotFound, ttl: 2), asked: 9000), at: Sample.at(9000))
    _ = words(&machine)
    let number = try #require(begin(&machine, request(), at: 10_000))
    #expect(words(&machine) == ["store 4"])
    machine.storeRead(4, stored("192.0.2.7", Sample.life(9500, 9600)), at: Sample.at(10_000.01))
    #expect(words(&machine) == ["store 5"])
    machine.storeRead(5, .nothing, at: Sample.at(10_000.02))
    machine.timePassed(at: Sample.at(10_000.3))
    #expect(words(&machine) == ["send 2 to 0: [A]", "answer \(number): [\"192.0.2.7\"] stale"])
  }
}
