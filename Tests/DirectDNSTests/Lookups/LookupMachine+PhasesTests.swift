// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// What a lookup waits for, and what follows.
extension LookupMachineTests {
  /// A machine for what a script has.
  func machine(
    for script: LookupScript, configure: (inout ResolverConfiguration) -> Void = { _ in }
  ) -> LookupMachine {
    machine(hasStore: script.store != nil) {
      $0.usesSystemDNS = script.system != nil
      configure(&$0)
    }
  }

  /// The way of a lookup of one family.
  func way(
    _ script: LookupScript, _ machine: inout LookupMachine, at seconds: Double = 10_000,
    change: (inout LookupRequest) -> Void = { _ in }
  ) -> [String] {
    var request = request()
    change(&request)
    return script.way(of: &machine, at: seconds) { $0.begin(request, at: $1) }
  }

  /// A machine that knows the name's IPv4 address since 0 s, for 100 s.
  func knowing(_ configure: (inout ResolverConfiguration) -> Void = { _ in }) -> LookupMachine {
    var machine = machine {
      $0.usesSystemDNS = false
      configure(&$0)
    }
    #expect(way(LookupScript(), &machine, at: 0) == ["provider A", "192.0.2.1 fresh"])
    return machine
  }

  // MARK: Which phase follows which

  @Test(arguments: [
    // Nobody but the providers.
    (LookupScript(), ["provider A", "192.0.2.1 fresh"]),
    (.init(providers: .denies), ["provider A", "nameNotFound"]),
    (.init(providers: .fails, system: nil), ["provider A", "upstreamFailed"]),
    (.init(providers: .isSilent, system: nil), ["provider A", "timedOut after 4900 ms"]),
    // The system's DNS after them.
    (.init(providers: .fails), ["provider A", "system A", "192.0.2.9 fresh"]),
    (.init(providers: .fails, system: .denies), ["provider A", "system A", "upstreamFailed"]),
    (.init(providers: .fails, system: .fails), ["provider A", "system A", "upstreamFailed"]),
    (.init(providers: .isSilent), ["provider A", "system A", "192.0.2.9 fresh after 3500 ms"]),
    (.init(providers: .isSilent, system: .isSilent), ["provider A", "system A", "timedOut after 5000 ms"]),
    // The store before them.
    (.init(store: .fresh), ["store A", "192.0.2.7 fresh"]),
    (.init(store: .nothing), ["store A", "provider A", "192.0.2.1 fresh"]),
    (.init(store: .isSilent), ["store A", "provider A", "192.0.2.1 fresh after 50 ms"]),
    (.init(store: .nothing, providers: .fails), ["store A", "provider A", "system A", "192.0.2.9 fresh"]),
    // It is looked into once more before the providers are asked for a newer answer than its own.
    (.init(store: .stale), ["store A", "store A", "provider A", "192.0.2.1 fresh"]),
    (.init(store: .stale, providers: .denies), ["store A", "store A", "provider A", "nameNotFound"]),
    (.init(store: .stale, providers: .fails), ["store A", "store A", "provider A", "192.0.2.7 stale"]),
    (.init(store: .stale, providers: .isSilent), ["store A", "store A", "provider A", "192.0.2.7 stale after 300 ms"]),
  ])
  func `a name that the cache does not have is looked for in the store, at the providers, and in the system's DNS`(
    _ script: LookupScript, _ expected: [String]
  ) {
    var machine = machine(for: script)
    #expect(way(script, &machine) == expected)
    #expect(machine.lookupCount == 0)
  }

  @Test(arguments: [
    (50.0, LookupScript.Reply.answers, ["192.0.2.1 fresh"]),
    (80, .answers, ["192.0.2.1 due", "provider A"]),
    (110, .answers, ["192.0.2.1 grace", "provider A"]),
    (1000, .answers, ["provider A", "192.0.2.1 fresh"]),
    (1000, .denies, ["provider A", "nameNotFound"]),
    (1000, .fails, ["provider A", "192.0.2.1 stale"]),
    (1000, .isSilent, ["provider A", "192.0.2.1 stale after 300 ms"]),
    (90_000, .fails, ["provider A", "upstreamFailed"]),
    (90_000, .isSilent, ["provider A", "timedOut after 4900 ms"]),
  ])
  func `what the cache has serves at once, behind a refresh, or after it, as old as it is`(
    _ seconds: Double, _ providers: LookupScript.Reply, _ expected: [String]
  ) {
    var machine = knowing()
    #expect(way(LookupScript(providers: providers, system: nil), &machine, at: seconds) == expected)
  }

  @Test(arguments: [
    (ExpiredUse.preferred, ["192.0.2.1 grace", "provider A"]),
    (.allowed, ["provider A", "192.0.2.1 stale after 300 ms"]),
    (.refused, ["provider A", "timedOut after 4900 ms"]),
  ])
  func `an expired answer serves whom it may`(_ expired: ExpiredUse, _ expected: [String]) {
    var machine = knowing()
    let script = LookupScript(providers: .isSilent, system: nil)
    #expect(way(script, &machine, at: 1000) { $0.expired = expired } == expected)
  }

  @Test(arguments: [
    (ExpiredUse.preferred, ["store A", "192.0.2.7 grace"]),
    (.refused, ["store A", "store A", "provider A", "upstreamFailed"]),
  ])
  func `an expired answer of the store serves at once whoever prefers it, and nobody who refuses it`(
    _ expired: ExpiredUse, _ expected: [String]
  ) {
    let script = LookupScript(store: .stale, providers: .fails, system: nil)
    var machine = machine(for: script)
    #expect(way(script, &machine) { $0.expired = expired } == expected)
  }

  @Test func `a denial serves while it is fresh, and is asked for anew afterwards`() {
    var machine = machine()
    #expect(way(LookupScript(providers: .denies), &machine, at: 0) == ["provider A", "nameNotFound"])
    #expect(way(LookupScript(), &machine, at: 59) == ["nameNotFound"])
    #expect(way(LookupScript(), &machine, at: 60) == ["provider A", "192.0.2.1 fresh"])
  }

  // MARK: The time of each

  @Test(arguments: [true, false])
  func `a caller gets the system's DNS in his own time, whoever asked before him`(_ renews: Bool) throws {
    var machine = machine()
    let first = try #require(begin(&machine, request(timeout: .seconds(30))))
    // Of his 5 s the providers have 3.5.
    let second =
      renews
      ? machine.renew(request(), isPatient: true, at: Sample.at(0.1))
      : try #require(begin(&machine, request(), at: 0.1))
    #expect(words(&machine) == ["send 1 to 0: [A]"])
    machine.timePassed(at: Sample.at(3.75).before)
    #expect(words(&machine) == [])
    machine.timePassed(at: Sample.at(3.75))
    let number = try #require(system(words(&machine)))
    machine.systemAnswered(number, .success(.addresses("192.0.2.9")), at: Sample.at(4))
    #expect(words(&machine) == ["answer \(second): [\"192.0.2.9\"] fresh"])
    machine.ended(1, reply(.addresses("192.0.2.1")), at: Sample.at(20))
    #expect(words(&machine) == ["answer \(first): [\"192.0.2.1\"] fresh"])
  }

  @Test func `nothing is said of the system's DNS where no time was left to ask it`() {
    var machine = machine()
    _ = begin(&machine, request(timeout: .seconds(1)))
    machine.timePassed(at: Sample.at(2))
    var messages: [String] = []
    for case .answer(_, .failure(let error), _) in machine.takeEndings() { messages.append(error.message) }
    #expect(messages.count == 1 && messages[0].contains(": no provider answered in time, and"))
  }

  // MARK: Two families

  @Test(arguments: [
    (FamilyWait.Purpose.handingOut, IPAddress.Family.ipv6, 50), (.handingOut, .ipv4, 50), (.connecting, .ipv6, 0),
    (.connecting, .ipv4, 50),
  ])
  func `once one family has come the other has 50 ms, and none where a connection can do without`(
    _ purpose: FamilyWait.Purpose, _ first: IPAddress.Family, _ milliseconds: Int
  ) throws {
    var machine = machine()
    var both = request(.any)
    both.purpose = purpose
    let number = try #require(begin(&machine, both))
    #expect(words(&machine) == ["send 1 to 0: [AAAA]", "send 2 to 0: [A]"])
    let address = first == .ipv6 ? "2001:db8::1" : "192.0.2.1"
    machine.ended(first == .ipv6 ? 1 : 2, reply(.addresses(address)), at: Sample.at(1))
    let end = Sample.at(1 + Double(milliseconds) / 1000)
    if milliseconds > 0 {
      #expect(words(&machine) == [] && machine.nextInstant() == end)
      machine.timePassed(at: end)
    }
    #expect(words(&machine) == ["answer \(number): [\"\(address)\"] fresh"])
  }

  @Test(arguments: [
    (Answer?.some(.addresses("2001:db8::1", ttl: 100)), ["2001:db8::1", "192.0.2.1"]),
    (.some(.negative(.noAddress)), ["192.0.2.1"]), (nil, ["192.0.2.1"]),
  ])
  func `one family of the cache waits 50 ms for the other, for a caller who would not learn of it later`(
    _ ipv6: Answer?, _ expected: [String]
  ) throws {
    var machine = knowing()
    guard case .waiting(let number, let known) = machine.begin(request(.any), at: Sample.at(10)) else {
      Issue.record("it does not wait")
      return
    }
    #expect(known == .fresh && words(&machine) == ["send 2 to 0: [AAAA]"])
    if let ipv6 {
      machine.ended(2, reply(ipv6, asked: 10), at: Sample.at(10.02))
    } else {
      machine.timePassed(at: Sample.at(10.05).before)
      #expect(words(&machine) == [])
      machine.timePassed(at: Sample.at(10.05))
    }
    #expect(words(&machine) == ["answer \(number): \(expected) fresh"])
  }

  @Test func `a connection gets one family of the cache at once, and the other is asked for behind it`() {
    var machine = knowing()
    let expected = ["192.0.2.1 fresh", "provider AAAA"]
    #expect(
      way(LookupScript(), &machine, at: 10) { ($0.wanted, $0.purpose) = (.any, .connecting) } == expected)
  }

  // MARK: Renewals

  @Test(arguments: [
    (1000.0, true, LookupScript.Reply.answers, ["provider A", "192.0.2.1 fresh"]),
    (1000, false, .answers, ["provider A", "192.0.2.1 fresh"]),
    (1000, true, .isSilent, ["provider A", "192.0.2.1 stale after 4900 ms"]),
    (1000, false, .isSilent, ["provider A", "192.0.2.1 stale after 300 ms"]),
    // Nothing is there to serve.
    (90_000, false, .isSilent, ["provider A", "timedOut after 4900 ms"]),
    (90_000, true, .fails, ["provider A", "upstreamFailed"]),
  ])
  func `a renewal waits for the providers to the end, unless nobody is expected to answer`(
    _ seconds: Double, _ isPatient: Bool, _ providers: LookupScript.Reply, _ expected: [String]
  ) {
    var machine = knowing()
    let way = LookupScript(providers: providers, system: nil).way(of: &machine, at: seconds) { machine, now in
      .waiting(machine.renew(request(), isPatient: isPatient, at: now), known: nil)
    }
    #expect(way == expected)
  }

  @Test func `a renewal tells whether anybody had to be asked`() {
    var machine = knowing()
    var told: [Bool] = []
    for seconds in [50.0, 1000, 1010] {
      _ = machine.renew(request(), isPatient: true, at: Sample.at(seconds))
      if seconds == 1000 { machine.ended(2, failed, at: Sample.at(seconds)) }
      for case .answer(_, _, let wasAsked) in machine.takeEndings() { told.append(wasAsked) }
    }
    #expect(told == [false, true, false])
  }
}
