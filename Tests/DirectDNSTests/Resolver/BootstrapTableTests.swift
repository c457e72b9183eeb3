// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// Which addresses of servers are used and when they are looked up, in moved time.
struct BootstrapTableTests {
  private var table = BootstrapTable()
  private let host = Sample.name("dns.example")

  private mutating func find(
    _ host: HostName? = nil, at seconds: Double, within timeout: Duration = .seconds(3), hasSystem: Bool = true
  ) -> (step: BootstrapTable.Step, lookup: BootstrapLookup?) {
    table.find(host ?? self.host, within: timeout, hasSystem: hasSystem, at: Sample.at(seconds))
  }

  /// Ends a lookup with those addresses of each family; a family without any fails.
  @discardableResult
  private mutating func end(
    _ lookup: BootstrapLookup?, _ addresses: String..., ttl: UInt32? = 60, at seconds: Double
  ) throws -> BootstrapTable.Outcome {
    var lookup = try #require(lookup)
    while let (family, _) = lookup.next {
      let found = addresses.map(Sample.address).filter { $0.family == family }
      lookup.answered(
        found.isEmpty
          ? .failure(ProviderFailure(.transport, "unplugged")) : .success(Answer(.addresses(found), ttl: ttl)))
    }
    return table.ended(lookup, at: Sample.at(seconds))
  }

  /// Has it know two addresses for a minute from the beginning.
  private mutating func learn() throws {
    try end(find(at: 0).lookup, "192.0.2.53", "2001:db8::53", at: 0)
  }

  private static let both = Sample.addresses("192.0.2.53", "2001:db8::53")

  @Test mutating func `an unknown name is looked up once, and all who need it wait`() throws {
    let first = find(at: 0)
    #expect(first.step == .wait(until: nil, orTake: .failure(.noTimeLeft)))
    let second = find(at: 0.1)
    #expect(second.step == .wait(until: nil, orTake: .failure(.noTimeLeft)) && second.lookup == nil)
    #expect(try end(first.lookup, "192.0.2.53", at: 0.2) == .success(Sample.addresses("192.0.2.53")))
    #expect(find(at: 0.2).step == .use(Sample.addresses("192.0.2.53")))
  }

  @Test(
    arguments: [
      (60, 60), (nil, 600), (3600, 600), (1, 10), (0, 10),
    ] as [(UInt32?, Double)])
  mutating func `what was found is kept by its TTL, for 10 to 600 seconds`(_ ttl: UInt32?, _ life: Double) throws {
    try end(find(at: 0).lookup, "192.0.2.53", ttl: ttl, at: 0)
    #expect(find(at: life - 0.001).lookup == nil)
    #expect(find(at: life).lookup != nil)
  }

  @Test mutating func `the shortest TTL of both families counts`() throws {
    var lookup = try #require(find(at: 0).lookup)
    for ttl: UInt32 in [300, 40] {
      let family = try #require(lookup.next?.family)
      let address = family == .ipv4 ? "192.0.2.53" : "2001:db8::53"
      lookup.answered(.success(Answer(.addresses(Sample.addresses(address)), ttl: ttl)))
    }
    _ = table.ended(lookup, at: Sample.at(0))
    #expect(find(at: 39).lookup == nil && find(at: 40).lookup != nil)
  }

  @Test mutating func `addresses whose TTL is over serve on at once while they are looked up again`() throws {
    try learn()
    let late = find(at: 60)
    #expect(late.step == .use(Self.both) && late.lookup != nil)
    #expect(find(at: 60.1).lookup == nil)
    try end(late.lookup, "192.0.2.54", at: 60.2)
    #expect(find(at: 60.2).step == .use(Sample.addresses("192.0.2.54")))
  }

  @Test mutating func `answers that only change their order leave the order of the addresses`() throws {
    try end(find(at: 0).lookup, "192.0.2.1", "192.0.2.2", at: 0)
    try end(find(at: 60).lookup, "192.0.2.2", "192.0.2.1", at: 60)
    #expect(find(at: 60).step == .use(Sample.addresses("192.0.2.1", "192.0.2.2")))
  }

  @Test(arguments: [true, false])
  mutating func `addresses that may not work any more are waited for, and serve who cannot wait`(
    _ isNetwork: Bool
  ) throws {
    try learn()
    if isNetwork {
      table.networkDidChange(at: Sample.at(1))
    } else {
      table.connectingFailed(to: host, at: Sample.at(1))
    }
    let patient = find(at: 1)
    #expect(patient.step == .wait(until: nil, orTake: .success(Self.both)) && patient.lookup != nil)
    // Half of the little time that a caller has is left for the query itself.
    #expect(find(at: 1, within: .seconds(1)).step == .wait(until: Sample.at(1.5), orTake: .success(Self.both)))
    try end(patient.lookup, "192.0.2.54", at: 1.2)
    #expect(find(at: 1.2).step == .use(Sample.addresses("192.0.2.54")))
  }

  @Test mutating func `while the system's DNS is dead the addresses before serve on, and it is asked each 30 s`() throws
  {
    try learn()
    table.connectingFailed(to: host, at: Sample.at(1))
    for round in 0..<3 {
      let now = 1 + Double(round) * 30
      let lookup = find(at: now).lookup
      #expect(lookup?.next?.timeout == .milliseconds(300))
      #expect(try end(lookup, at: now) == .success(Self.both))
      #expect(find(at: now + 29.9).step == .use(Self.both) && find(at: now + 29.9).lookup == nil)
    }
  }

  @Test(arguments: [(true, 10.0), (false, 30)])
  mutating func `addresses that were looked up in vain are not looked up at each further failure to connect`(
    _ isFound: Bool, _ pause: Double
  ) throws {
    try learn()
    table.connectingFailed(to: host, at: Sample.at(1))
    let lookup = find(at: 1).lookup
    if isFound { try end(lookup, "192.0.2.53", "2001:db8::53", at: 1) } else { try end(lookup, at: 1) }
    for instant in [1, 1 + pause - 0.001] {
      table.connectingFailed(to: host, at: Sample.at(instant))
      let found = find(at: instant)
      #expect(found.step == .use(Self.both) && found.lookup == nil, "\(instant) s")
    }
    table.connectingFailed(to: host, at: Sample.at(1 + pause))
    let found = find(at: 1 + pause)
    #expect(found.step == .wait(until: nil, orTake: .success(Self.both)) && found.lookup != nil)
  }

  @Test mutating func `a name with other addresses each time that are dead as well is looked up every 10 s`() throws {
    try learn()
    for round in 0..<3 {
      let now = 1 + Double(round) * 10
      table.connectingFailed(to: host, at: Sample.at(now))
      let lookup = find(at: now).lookup
      try end(lookup, "192.0.2.\(60 + round)", at: now)
      for instant in [now, now + 9.999] {
        table.connectingFailed(to: host, at: Sample.at(instant))
        let found = find(at: instant)
        #expect(found.step == .use(Sample.addresses("192.0.2.\(60 + round)")) && found.lookup == nil, "\(instant) s")
      }
    }
  }

  @Test mutating func `addresses that changed when their TTL was over are doubted at the first failure to connect`()
    throws
  {
    try learn()
    try end(find(at: 60).lookup, "192.0.2.54", at: 60)
    table.connectingFailed(to: host, at: Sample.at(60))
    #expect(find(at: 60).lookup != nil)
  }

  @Test(arguments: [true, false])
  mutating func `on another network and with another system's DNS, the first failure to connect counts again`(
    _ isNetwork: Bool
  ) throws {
    try learn()
    table.connectingFailed(to: host, at: Sample.at(1))
    try end(find(at: 1).lookup, "192.0.2.53", "2001:db8::53", at: 1)
    if isNetwork { table.networkDidChange(at: Sample.at(2)) } else { table.systemDidChange() }
    table.connectingFailed(to: host, at: Sample.at(2))
    let found = find(at: 2)
    #expect(found.step == .wait(until: nil, orTake: .success(Self.both)) && found.lookup != nil)
  }

  @Test(arguments: [true, false])
  mutating func `what was asked for before a change of the network or of the system's DNS is asked for again`(
    _ isNetwork: Bool
  ) throws {
    let lookup = find(at: 0).lookup
    if isNetwork { table.networkDidChange(at: Sample.at(0.1)) } else { table.systemDidChange() }
    #expect(try end(lookup, "192.0.2.53", at: 0.2) == .success(Sample.addresses("192.0.2.53")))
    #expect(find(at: 0.2).lookup != nil)
  }

  @Test mutating func `on another network a name is looked up at once, and what the one before finds later is no news`()
    throws
  {
    let former = find(at: 0).lookup
    table.networkDidChange(at: Sample.at(1))
    let present = find(at: 1)
    #expect(present.step == .wait(until: nil, orTake: .failure(.noTimeLeft)) && present.lookup != nil)
    #expect(find(at: 1.1).lookup == nil)
    try end(present.lookup, "192.0.2.54", at: 1.2)
    #expect(try end(former, "192.0.2.53", at: 2) == .success(Sample.addresses("192.0.2.53")))
    let next = find(at: 2)
    #expect(next.step == .use(Sample.addresses("192.0.2.54")) && next.lookup == nil)
  }

  @Test mutating func `a lookup that fails with the network that it was begun on leaves the doubt about the addresses`()
    throws
  {
    try learn()
    let former = find(at: 60).lookup
    table.networkDidChange(at: Sample.at(60.1))
    #expect(try end(former, at: 60.2) == .success(Self.both))
    let next = find(at: 60.2)
    #expect(next.step == .wait(until: nil, orTake: .success(Self.both)) && next.lookup != nil)
  }

  @Test mutating func `without any address the failure names the host and the reason`() throws {
    let outcome = try end(find(at: 0).lookup, at: 0.1)
    guard case .failure(let failure) = outcome else { return #expect(Bool(false), "\(outcome)") }
    let advice = "give one (bootstrap; dnsctl: --bootstrap dns.example=ADDRESS)"
    let reason = "the system's DNS was asked for dns.example: unplugged; \(advice)"
    #expect(failure.kind == .transport && failure.reason == reason)
    var lookup = try #require(find(at: 1.5).lookup)
    while lookup.next != nil { lookup.answered(.success(Answer(.negative(.nameNotFound), ttl: nil))) }
    let second = table.ended(lookup, at: Sample.at(1.6))
    let expected = ProviderFailure(.transport, "the system's DNS has no address for dns.example; \(advice)")
    #expect(second == .failure(expected))
  }

  @Test mutating func `a failure is remembered for 1 s, and twice as long with each further one, up to 30 s`() throws {
    var now = 0.0
    for memory: Double in [1, 2, 4, 8, 16, 30, 30] {
      guard case .failure(let failure) = try end(find(at: now).lookup, at: now) else {
        return #expect(Bool(false), "it has addresses")
      }
      for instant in [now, now + memory - 0.001] {
        let found = find(at: instant)
        #expect(found.step == .fail(failure) && found.lookup == nil, "\(memory) s")
      }
      #expect(find(Sample.name("b.example"), at: now).step != .fail(failure))
      now += memory
    }
    try end(find(at: now).lookup, "192.0.2.53", at: now)
    #expect(find(at: now).step == .use(Sample.addresses("192.0.2.53")))
  }

  @Test(arguments: [true, false], [true, false])
  mutating func `a failure is forgotten on another network and with another system's DNS, also while it is asked`(
    _ isNetwork: Bool, _ isAsked: Bool
  ) throws {
    let lookup = find(at: 0).lookup
    if !isAsked { try end(lookup, at: 0) }
    if isNetwork { table.networkDidChange(at: Sample.at(0)) } else { table.systemDidChange() }
    if isAsked { try end(lookup, at: 0) }
    let found = find(at: 0)
    #expect(found.step == .wait(until: nil, orTake: .failure(.noTimeLeft)) && found.lookup != nil)
  }

  @Test
  mutating func
    `without the system's DNS what is known serves for ever, and what is not is an error that says what to do`()
    throws
  {
    try learn()
    table.systemDidChange()
    #expect(find(at: 100_000, hasSystem: false).step == .use(Self.both))
    guard case .fail(let failure) = find(Sample.name("b.example"), at: 0, hasSystem: false).step
    else { return #expect(Bool(false), "it goes on") }
    #expect(failure.reason.contains("b.example") && failure.reason.contains("--bootstrap"))
  }

  @Test
  mutating func
    `each family has half of the caller's time, and at least 1.5 s; the second has 300 ms if the first is there`()
    throws
  {
    var lookup = try #require(find(at: 0, within: .seconds(8)).lookup)
    #expect(lookup.next?.family == .ipv4 && lookup.next?.timeout == .seconds(4))
    var other = try #require(find(Sample.name("b.example"), at: 0, within: .seconds(1)).lookup)
    #expect(other.next?.timeout == .milliseconds(1500))
    lookup.answered(.success(Answer(.addresses(Sample.addresses("192.0.2.53")), ttl: 60)))
    #expect(lookup.next?.family == .ipv6 && lookup.next?.timeout == .milliseconds(300))
    other.answered(.failure(ProviderFailure(.transport, "silence")))
    #expect(other.next?.family == .ipv6 && other.next?.timeout == .milliseconds(1500))
  }

  @Test(
    arguments: [
      (60, 60), (2999, 2999), (3000, nil), (9000, nil),
    ] as [(Int64, Int64?)])
  mutating func `who has less time than both families may take waits no longer than that`(
    _ milliseconds: Int64, _ until: Int64?
  ) {
    let end = until.map { Sample.at(0) + .milliseconds($0) }
    #expect(
      find(at: 0, within: .milliseconds(milliseconds)).step == .wait(until: end, orTake: .failure(.noTimeLeft)))
  }
}
