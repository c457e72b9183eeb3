// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// Lookups of records.
extension LookupMachineTests {
  private static let records = DNSQuestion(name: DNSName(host), type: .a)

  private func reply(_ records: Result<RecordAnswer, ProviderFailure>, _ error: HTTPTransportError? = nil)
    -> QueryMachine.Reply
  {
    QueryMachine.Reply(
      asked: Sample.at(0), reading: .records(records), sendError: error, status: error == nil ? 200 : nil)
  }

  private static let oneRecord = RecordAnswer(
    records: [DNSRecord(owner: .root, type: .mx, ttl: 1, data: .opaque([]))])

  @Test func `records are asked for of one server after the other, and each caller asks`() {
    var machine = machine("one", "two")
    let first = machine.askRecords(Self.records, nil, at: Sample.at(0))
    let second = machine.askRecords(Self.records, nil, at: Sample.at(0))
    #expect(words(&machine) == ["send 1 to 0: [A]", "send 2 to 0: [A]"])
    machine.ended(1, reply(.failure(ProviderFailure(.transport, "refused")), .connect("refused")), at: Sample.at(1))
    machine.ended(2, reply(.success(Self.oneRecord)), at: Sample.at(1))
    #expect(words(&machine) == ["send 3 to 1: [A]", "records \(second): 1 of one"])
    machine.ended(3, reply(.success(RecordAnswer(records: []))), at: Sample.at(2))
    #expect(words(&machine) == ["records \(first): 0 of two"])
    #expect(machine.nextInstant() == nil && machine.servers.queries.isEmpty)
  }

  @Test func `a server that is slow with records has a second one beside it, and what comes first counts`() throws {
    var machine = machine("one", "two") { $0.hedges = true }
    let number = machine.askRecords(Self.records, nil, at: Sample.at(0))
    _ = words(&machine)
    let due = machine.nextInstant()
    let hedge = try #require(due)
    #expect(hedge < Sample.at(1))
    machine.timePassed(at: hedge)
    #expect(words(&machine) == ["send 2 to 1: [A]"])
    machine.ended(2, reply(.success(Self.oneRecord)), at: Sample.at(1))
    #expect(words(&machine) == ["cancel 1", "records \(number): 1 of two"])
    machine.ended(1, reply(.failure(ProviderFailure(.cancelled, "cancelled")), .cancelled), at: Sample.at(1))
    #expect(words(&machine).isEmpty && machine.servers.queries.isEmpty)
  }

  @Test func `whoever leaves takes the query for records along, and the end does so with all`() {
    var machine = machine()
    let left = machine.askRecords(Self.records, nil, at: Sample.at(0))
    let kept = machine.askRecords(Self.records, nil, at: Sample.at(0))
    _ = words(&machine)
    machine.cancelRecords(left, at: Sample.at(1))
    machine.cancelRecords(left, at: Sample.at(1))
    #expect(words(&machine) == ["cancel 1", "no records \(left): cancelled"])
    machine.shutdown(at: Sample.at(2))
    #expect(words(&machine) == ["cancel 2", "no records \(kept): cancelled"])
    let late = machine.askRecords(Self.records, nil, at: Sample.at(3))
    #expect(words(&machine) == ["no records \(late): cancelled"])
  }

  @Test func `a lookup of records that waits for a rate ends with the resolver`() {
    var machine = machine { $0.providers[0].rateLimit = RateLimit(perSecond: 0.1, burst: 1) }
    _ = machine.askRecords(Self.records, .seconds(60), at: Sample.at(0))
    let waits = machine.askRecords(Self.records, .seconds(60), at: Sample.at(0))
    #expect(words(&machine) == ["send 1 to 0: [A]"])
    machine.shutdown(at: Sample.at(1))
    #expect(words(&machine).contains("no records \(waits): cancelled"))
  }

  @Test func `records are waited for until the time is over, be there a server that never says anything`() {
    var machine = machine()
    let number = machine.askRecords(Self.records, .seconds(2), at: Sample.at(0))
    _ = words(&machine)
    for seconds in [1.97, 1.98, 1.99] {
      machine.timePassed(at: Sample.at(seconds))
      #expect(words(&machine).isEmpty && machine.nextInstant() == Sample.at(2))
    }
    machine.timePassed(at: Sample.at(2))
    #expect(words(&machine) == ["cancel 1", "no records \(number)"])
    #expect(machine.nextInstant() == nil)
  }

  @Test func `records of a name that is looked up elsewhere from then on are asked of no other server`() {
    for change: (inout ResolverConfiguration) -> Void in [
      { $0.localZones.pins = [Self.host: Sample.addresses("192.0.2.9")] },
      { $0.localZones.suffixes = [Sample.name("example.net")] },
    ] {
      var machine = machine("one", "two")
      let moved = machine.askRecords(Self.records, nil, at: Sample.at(0))
      let other = DNSQuestion(name: DNSName(Sample.name("other.example")), type: .a)
      let stays = machine.askRecords(other, nil, at: Sample.at(0))
      _ = words(&machine)
      var configuration = machine.settings.configuration
      change(&configuration)
      machine.update(ResolverSettings(configuration, system: Unused()), at: Sample.at(1))
      #expect(words(&machine) == ["cancel 1", "no records \(moved): cancelled"])
      let refused = reply(.failure(ProviderFailure(.transport, "refused")), .connect("refused"))
      for query: QueryMachine.QueryNumber in [1, 2] { machine.ended(query, refused, at: Sample.at(2)) }
      #expect(words(&machine) == ["send 3 to 1: [A]"])
      machine.ended(3, reply(.success(Self.oneRecord)), at: Sample.at(3))
      #expect(words(&machine) == ["records \(stays): 1 of two"])
    }
  }

  private func update(_ machine: inout LookupMachine, to provider: String, at seconds: Double) {
    var configuration = machine.settings.configuration
    configuration.providers = ResolverFixture.configuration([provider]).providers
    machine.update(ResolverSettings(configuration, system: Unused()), at: Sample.at(seconds))
  }

  @Test func `what a server that is gone fails of records is asked of the new ones, once`() {
    var machine = machine("one")
    let number = machine.askRecords(Self.records, nil, at: Sample.at(0))
    update(&machine, to: "two", at: 1)
    #expect(words(&machine) == ["send 1 to 0: [A]"])
    let refused = reply(.failure(ProviderFailure(.transport, "refused")), .connect("refused"))
    machine.ended(1, refused, at: Sample.at(2))
    #expect(words(&machine) == ["send 2 to 1: [A]"])
    machine.ended(2, refused, at: Sample.at(3))
    #expect(words(&machine) == ["no records \(number)"])
    #expect(machine.recordLookups.isEmpty && machine.nextInstant() == nil)
  }

  @Test func `records that wait for the rate of a server that is gone are asked of the new ones at once`() {
    var machine = machine("one") { $0.providers[0].rateLimit = RateLimit(perSecond: 0.5, burst: 1) }
    _ = machine.askRecords(Self.records, nil, at: Sample.at(0))
    let waits = machine.askRecords(Self.records, nil, at: Sample.at(0))
    #expect(words(&machine) == ["send 1 to 0: [A]"])
    update(&machine, to: "two", at: 1)
    #expect(words(&machine) == ["send 2 to 1: [A]"])
    machine.ended(2, reply(.success(Self.oneRecord)), at: Sample.at(1.5))
    #expect(words(&machine) == ["records \(waits): 1 of two"])
  }

  @Test func `records whose caller has left, or whose time is over, are asked of no new server`() {
    var machine = machine("one")
    let left = machine.askRecords(Self.records, nil, at: Sample.at(0))
    let late = machine.askRecords(Self.records, nil, at: Sample.at(0))
    _ = words(&machine)
    update(&machine, to: "two", at: 1)
    machine.cancelRecords(left, at: Sample.at(2))
    #expect(words(&machine) == ["cancel 1", "no records \(left): cancelled"])
    machine.ended(2, reply(.failure(ProviderFailure(.transport, "late")), .timedOut), at: Sample.at(4.95))
    #expect(words(&machine) == ["no records \(late)"])
    #expect(machine.recordLookups.isEmpty)
  }

  @Test func `another network has records asked for anew`() {
    var machine = machine()
    _ = machine.askRecords(Self.records, nil, at: Sample.at(0))
    _ = words(&machine)
    machine.networkDidChange(at: Sample.at(1))
    #expect(words(&machine) == ["cancel 1", "send 2 to 0: [A]"])
  }
}
