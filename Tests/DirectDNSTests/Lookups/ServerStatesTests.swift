// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// What stays of servers when the configuration changes.
struct ServerStatesTests {
  private static func configuration(_ providers: String..., limit: RateLimit? = nil) -> ResolverConfiguration {
    var configuration = ResolverFixture.configuration(providers)
    for index in configuration.providers.indices { configuration.providers[index].rateLimit = limit }
    return configuration
  }

  private static func opened(_ states: inout ServerStates, _ number: Number<DNSServer>, at seconds: Double) {
    for failure in 0..<ServerHealth.failureLimit {
      let lookup = ServerHealth.LookupKey(host: Sample.name("n\(failure).example"), end: Sample.at(seconds))
      states.ended(
        number, .failure(ProviderFailure(.transport, "no")), of: lookup, in: .zero, at: Sample.at(seconds))
    }
  }

  private static func take(_ states: inout ServerStates, _ numbers: [Number<DNSServer>], at seconds: Double) -> String?
  {
    guard case .taken(let server) = states.next(among: numbers, before: Sample.at(seconds), at: Sample.at(seconds))
    else { return nil }
    return server.configuration.provider.name
  }

  @Test func `a server that wants to be left alone is named so, and the network is not blamed`() throws {
    var states = ServerStates(Self.configuration("one"), at: Sample.at(0))
    states.ended(
      0, .failure(ProviderFailure(.rateLimited(retryAfter: .seconds(60)), "429")),
      of: ServerHealth.LookupKey(host: Sample.name("a.example"), end: Sample.at(5)), in: .zero, at: Sample.at(0))
    guard case .late(let attempts) = states.next(among: [0], before: Sample.at(6), at: Sample.at(1.5)) else {
      return #expect(Bool(false))
    }
    #expect(attempts.map(\.reason) == ["it wants no request for 59 s more (429)"])
    #expect(LookupMachine.advice(attempts) == "Ask less often, or name other providers.")
  }

  @Test func `a server that stays keeps its number and its open breaker, wherever it stands now`() {
    var states = ServerStates(Self.configuration("one", "two"), at: Sample.at(0))
    Self.opened(&states, 0, at: 1)
    #expect(states.order(at: Sample.at(2)) == [1, 0])
    states.update(Self.configuration("three", "one"), at: Sample.at(2))
    #expect(states.order(at: Sample.at(2)) == [2, 0])
    #expect(Self.take(&states, [0], at: 2) == "one")
    // One that went and came back is another.
    states.update(Self.configuration("two"), at: Sample.at(3))
    #expect(states.order(at: Sample.at(3)) == [3])
  }

  @Test func `a server of another origin is another, whatever its name is`() throws {
    var states = ServerStates(Self.configuration("one"), at: Sample.at(0))
    Self.opened(&states, 0, at: 1)
    var configuration = Self.configuration("one")
    configuration.providers[0].provider = JSONProvider(name: "one", url: Sample.url("https://one.example:8443/"))
    states.update(configuration, at: Sample.at(2))
    #expect(states.order(at: Sample.at(2)) == [1])
    configuration.providers[0].provider = JSONProvider(name: "one", url: Sample.url("https://one.example:8443/?key=2"))
    states.update(configuration, at: Sample.at(2))
    #expect(states.order(at: Sample.at(2)) == [1])
  }

  @Test func `what is left of a rate stays, as far as the new one allows`() {
    let slow = RateLimit(perSecond: 1, burst: 4)
    var states = ServerStates(Self.configuration("one", limit: slow), at: Sample.at(0))
    for _ in 0..<3 { #expect(Self.take(&states, [0], at: 0) == "one") }
    states.update(Self.configuration("one", limit: slow), at: Sample.at(0))
    #expect(Self.take(&states, [0], at: 0) == "one")
    #expect(Self.take(&states, [0], at: 0) == nil)
    states.update(Self.configuration("one", limit: RateLimit(perSecond: 100, burst: 100)), at: Sample.at(0))
    #expect(Self.take(&states, [0], at: 0) == nil)
    #expect(Self.take(&states, [0], at: 0.01) == "one")
    states.update(Self.configuration("one"), at: Sample.at(0.01))
    for _ in 0..<1000 { #expect(Self.take(&states, [0], at: 0.01) == "one") }
    states.update(Self.configuration("one", limit: slow), at: Sample.at(0.02))
    for _ in 0..<4 { #expect(Self.take(&states, [0], at: 0.02) == "one") }
    #expect(Self.take(&states, [0], at: 0.02) == nil)
  }

  @Test func `a server that has gone is asked no more, and what becomes of its query is nobody's`() {
    var states = ServerStates(Self.configuration("one", "two"), at: Sample.at(0))
    states.update(Self.configuration("two"), at: Sample.at(1))
    #expect(Self.take(&states, [0, 1], at: 1) == "two")
    let lookup = ServerHealth.LookupKey(host: ResolverFixture.host, end: Sample.at(5))
    #expect(states.ended(0, .success(.addresses("192.0.2.1")), of: lookup, in: .zero, at: Sample.at(1)) == nil)
    #expect(states.begin(0, at: Sample.at(1)) == nil)
    guard case .none = states.next(among: [0], before: Sample.at(9), at: Sample.at(1)) else {
      Issue.record("somebody was left")
      return
    }
  }

  @Test func `one server alone is not hedged`() {
    var states = ServerStates(Self.configuration("one", "two"), at: Sample.at(0))
    #expect(states.hedges)
    states.update(Self.configuration("one"), at: Sample.at(0))
    #expect(!states.hedges)
  }

  @Test func `a hedge goes to one that may be asked at once, its last token too`() {
    var states = ServerStates(
      Self.configuration("one", "two", limit: RateLimit(perSecond: 0.1)), at: Sample.at(0))
    #expect(Self.take(&states, [0], at: 0) == "one")
    let hedges = (0..<2).map { _ in
      states.takeHedge(among: [1], for: nil, until: Sample.at(5), at: Sample.at(0))?.name
    }
    #expect(hedges == ["two", nil])
  }

  // MARK: Turns

  @Test func `of servers that may be asked at the same time the first in the order is, and only in time`() {
    var states = ServerStates(Self.configuration("one", "two", limit: RateLimit(perSecond: 1)), at: Sample.at(0))
    for name in ["one", "two"] { #expect(Self.take(&states, [0, 1], at: 0) == name) }
    guard case .late(let attempts) = states.next(among: [1, 0], before: Sample.at(1), at: Sample.at(0)) else {
      return #expect(Bool(false), "an answer at the deadline comes too late")
    }
    #expect(attempts.map(\.server) == ["two", "one"])
    guard case .turn(1, let instant) = states.next(among: [1, 0], before: Sample.at(1.001), at: Sample.at(0)) else {
      return #expect(Bool(false), "the first in the order")
    }
    #expect(instant == Sample.at(1))
  }

  @Test func `one whose breaker is open is a stopgap while another can be asked in time`() {
    let limit = RateLimit(perSecond: 1, burst: 1)
    var states = ServerStates(Self.configuration("one", "two", limit: limit), at: Sample.at(0))
    for number in [1, 7] as [Number<DNSServer>] {
      #expect(!states.isStopgap(number, among: [0], before: Sample.at(9), at: Sample.at(0)))
    }
    Self.opened(&states, 1, at: 0)
    #expect(Self.take(&states, [0], at: 0) == "one")
    #expect(states.isStopgap(1, among: [0, 1], before: Sample.at(1.001), at: Sample.at(0)))
    #expect(!states.isStopgap(1, among: [0, 1], before: Sample.at(1), at: Sample.at(0)))
    #expect(!states.isStopgap(1, among: [1, 7], before: Sample.at(9), at: Sample.at(0)))
    #expect(!states.isStopgap(1, among: [0], before: Sample.at(99), at: Sample.at(30)))
  }

  // MARK: Breakers

  @Test func `a breaker's changes are told once each`() {
    var states = ServerStates(Self.configuration("one", "two"), at: Sample.at(0))
    func change(_ number: Int, at seconds: Double, answered: Bool = false) -> ServerHealth.BreakerChange? {
      states.asked(0, at: Sample.at(seconds))
      return states.ended(
        0, answered ? .success(.addresses("192.0.2.1", ttl: 60)) : .failure(ProviderFailure(.transport, "no")),
        of: ServerHealth.LookupKey(host: Sample.name("n\(number).example"), end: Sample.at(seconds + 5)), in: .zero,
        at: Sample.at(seconds))
    }
    let opening = [change(0, at: 0), change(1, at: 1), change(2, at: 2), change(3, at: 3)]
    #expect(opening == [nil, nil, .opened, nil])
    #expect(change(4, at: 32) == .reopened)
    let closing = [change(5, at: 62, answered: true), change(6, at: 63, answered: true)]
    #expect(closing == [.closed, nil])
  }

  // MARK: Several names in one query

  @Test
  func `one that takes a name at a time is given one, until it is configured anew or the network changes`() throws {
    var configuration = ResolverFixture.configuration([])
    let provider = try EMASProvider(name: "emas", url: WebURL("https://192.0.2.1/1234/resolve"))
    configuration.providers = [ProviderConfiguration(provider: provider)]
    var states = ServerStates(configuration, at: Sample.at(0))
    for change in 0..<2 {
      #expect(states.batchServer(at: Sample.at(0))?.number == 0)
      #expect(states.batchServer(at: Sample.at(0))?.limit == 5)
      states.noteBatchRefusal(0)
      #expect(states.batchServer(at: Sample.at(0)) == nil)
      if change == 0 { states.update(configuration, at: Sample.at(1)) } else { states.networkDidChange() }
    }
    #expect(states.batchServer(at: Sample.at(0))?.limit == 5)
    #expect(ServerStates(Self.configuration("one"), at: Sample.at(0)).batchServer(at: Sample.at(0)) == nil)
  }

  // MARK: Queries that have had their time

  private static func failover(_ states: inout ServerStates, _ numbers: [Number<DNSServer>], at seconds: Double)
    -> String
  {
    switch states.takeFailover(among: numbers, before: Sample.at(3.5), at: Sample.at(seconds)) {
    case .replace(let server): "replace \(server.configuration.provider.name)"
    case .alongside(let server): "alongside \(server.configuration.provider.name)"
    case .later(let instant): "later \(instant.nanoseconds / 1_000_000)"
    case .noServer: "no server"
    }
  }

  @Test func `a query makes room for the next server whose breaker is closed`() {
    var states = ServerStates(Self.configuration("one", "two", "three"), at: Sample.at(0))
    Self.opened(&states, 1, at: 0)
    #expect(Self.failover(&states, [1, 2], at: 3) == "replace three")
  }

  @Test(arguments: [0.0, -27])
  func `for one whose breaker is open, or that is tried again, it makes none, and that is asked beside it`(
    _ opened: Double
  ) {
    var states = ServerStates(Self.configuration("one", "two"), at: Sample.at(opened))
    Self.opened(&states, 1, at: opened)
    #expect(Self.failover(&states, [1], at: 3) == "alongside two")
  }

  @Test func `it goes on where nobody is left, or nobody who may be asked in time`() {
    var states = ServerStates(
      Self.configuration("one", "two", limit: RateLimit(perSecond: 0.1)), at: Sample.at(0))
    #expect(Self.failover(&states, [], at: 3) == "no server")
    #expect(Self.take(&states, [1], at: 0) == "two")
    #expect(Self.failover(&states, [1], at: 3) == "no server")
    states.ended(
      0, .failure(ProviderFailure(.rateLimited(retryAfter: .seconds(60)), "429")),
      of: ServerHealth.LookupKey(host: Sample.name("n.example"), end: Sample.at(5)), in: .zero, at: Sample.at(0))
    #expect(Self.failover(&states, [0, 1], at: 3) == "no server")
    let limit = RateLimit(perSecond: 2, burst: 1)
    var slow = ServerStates(Self.configuration("one", "two", limit: limit), at: Sample.at(0))
    #expect(Self.take(&slow, [1], at: 3) == "two")
    #expect(Self.failover(&slow, [1], at: 3) == "no server", "its next turn is the deadline")
  }

  @Test func `it goes on until somebody may be asked`() {
    var states = ServerStates(
      Self.configuration("one", "two", limit: RateLimit(perSecond: 5, burst: 1)), at: Sample.at(0))
    #expect(Self.take(&states, [1], at: 3) == "two")
    #expect(Self.failover(&states, [1], at: 3) == "later 3200")
    #expect(states.failoverInstant(among: [1], before: Sample.at(3.5), at: Sample.at(3)) == Sample.at(3.2))
    #expect(states.failoverInstant(among: [1], before: Sample.at(3.2), at: Sample.at(3)) == nil)
    #expect(Self.failover(&states, [1], at: 3.2) == "replace two")
  }

  @Test func `the instant of a failover is that of the server which is taken`() {
    var states = ServerStates(
      Self.configuration("one", "two", limit: RateLimit(perSecond: 5, burst: 1)), at: Sample.at(0))
    Self.opened(&states, 0, at: 0)
    #expect(Self.take(&states, [1], at: 3) == "two")
    // The first could be asked at once, and is behind the other, since its breaker is open.
    #expect(states.failoverInstant(among: [0, 1], before: Sample.at(3.5), at: Sample.at(3)) == Sample.at(3.2))
    #expect(Self.failover(&states, [0, 1], at: 3) == "later 3200")
  }
}
