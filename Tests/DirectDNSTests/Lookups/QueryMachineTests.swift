// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// One question and several servers.
///
/// No cache stands before them.
@Suite(.timeLimit(.minutes(1)))
struct QueryMachineTests {
  private typealias Outcome = QueryFixture.Outcome

  private let clock = ManualClock()
  private let transport: ScriptedTransport
  private let system: ScriptedSystem

  init() {
    transport = ScriptedTransport(clock: clock)
    system = ScriptedSystem(clock: clock)
  }

  private func upstreams(
    _ providers: String..., hedges: Bool = false, limits: [String: RateLimit] = [:], hasBootstrap: Bool = true
  ) -> QueryFixture {
    var configuration = ResolverFixture.configuration(providers)
    configuration.hedges = hedges
    for index in configuration.providers.indices {
      configuration.providers[index].rateLimit = limits[providers[index]]
      if !hasBootstrap { configuration.providers[index].bootstrap = [] }
    }
    return QueryFixture(
      configuration, transport: transport, clock: clock, bootstrap: Bootstrap(system: system, clock: clock))
  }

  private func begin(
    _ upstreams: QueryFixture, _ host: String = "www.example.net", _ family: IPAddress.Family = .ipv4,
    timeout: Duration = .seconds(5), at start: ResolverInstant? = nil, hasSystem: Bool = true
  ) -> Task<Outcome, Never> {
    let question = AddressQuestion(Sample.name(host), family)
    let deadlines = LookupDeadlines(timeout: timeout, from: start ?? clock.now, hasSystem: hasSystem)
    return Task.immediate {
      do throws(QueryMachine.Failed) {
        return .success(try await upstreams.answer(question, deadlines))
      } catch {
        return .failure(error)
      }
    }
  }

  private func ask(
    _ upstreams: QueryFixture, _ host: String = "www.example.net", _ family: IPAddress.Family = .ipv4
  ) async -> Outcome {
    await begin(upstreams, host, family).value
  }

  /// The place of the provider that answered.
  private func provider(_ outcome: Outcome) -> Int? { try? outcome.get().server }

  private func failed(_ outcome: Outcome) -> QueryMachine.Failed? {
    if case .failure(let failed) = outcome { failed } else { nil }
  }

  private static let good = Script.answer(.addresses("192.0.2.1"))

  // MARK: The order

  @Test func `the first provider is asked first, and no other while it answers`() async {
    let upstreams = upstreams("one", "two", "three")
    transport.reply { _ in Self.good }
    for _ in 0..<5 { #expect(provider(await ask(upstreams)) == 0) }
    #expect(transport.asked == Array(repeating: "one", count: 5))
  }

  @Test(arguments: [
    Script.code(.serverFailure), .code(.refused), .code(.formatError), .code(.notImplemented), .down,
    .error(.tls("expired")), .error(.connectionLost("reset")), .error(.bodyTooLarge), .error(.timedOut),
    .status(500), .status(404), .status(302), .status(429), .status(503, retryAfter: 5),
  ])
  func `whatever is no answer leads to the next provider`(_ script: Script) async {
    let upstreams = upstreams("one", "two", "three")
    transport.reply { $0.provider == "three" ? Self.good : script }
    #expect(provider(await ask(upstreams)) == 2)
    #expect(transport.asked == ["one", "two", "three"])
  }

  @Test(arguments: [Answer.Negative.nameNotFound, .noAddress])
  func `a negative answer is an answer, and no other is asked`(_ kind: Answer.Negative) async throws {
    let upstreams = upstreams("one", "two")
    transport.reply { _ in .answer(.negative(kind)) }
    #expect(try await ask(upstreams).get().answer.content == .negative(kind))
    #expect(transport.asked == ["one"])
  }

  @Test func `each server is asked once, and each one's reason is told in the order of asking`() async {
    let upstreams = upstreams("one", "two", "three")
    transport.reply { sent in
      switch sent.provider {
      case "one": .code(.serverFailure)
      case "two": .error(.tls("certificate expired"))
      default: .status(500)
      }
    }
    let failed = failed(await ask(upstreams))
    #expect(failed?.attempts.map(\.provider) == ["one", "two", "three"])
    #expect(failed?.attempts[0].reason.contains("SERVFAIL") == true)
    #expect(failed?.attempts[1].reason == "TLS: certificate expired")
    #expect(failed?.attempts[2].reason.contains("500") == true)
    #expect(failed?.isTimeout == false)
    #expect(failed?.isCancelled == false)
    #expect(transport.asked == ["one", "two", "three"])
  }

  @Test func `without providers nobody answers`() async {
    let failed = failed(await ask(upstreams()))
    #expect(failed?.attempts == [])
    #expect(failed?.isTimeout == false)
  }

  @Test func `an answer tells when its query was sent`() async throws {
    let upstreams = upstreams("one", "two")
    transport.reply {
      $0.provider == "one" ? .silence : .answer(.addresses("192.0.2.1"), after: .milliseconds(400))
    }
    let lookup = begin(upstreams)
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(3))
    await transport.waitForSent(2)
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(400))
    #expect(try await lookup.value.get().asked == Sample.at(3))
  }

  // MARK: Health

  @Test func `three transport failures in a row move a provider behind the others for 30 s`() async {
    let upstreams = upstreams("one", "two")
    transport.reply { $0.provider == "one" ? .down : Self.good }
    for number in 0..<3 { _ = await ask(upstreams, "n\(number).example") }
    #expect(transport.asked == ["one", "two", "one", "two", "one", "two"])
    for number in 3..<6 { _ = await ask(upstreams, "n\(number).example") }
    #expect(Array(transport.asked.dropFirst(6)) == ["two", "two", "two"])
    clock.advance(by: .seconds(30))
    _ = await ask(upstreams, "probe.example")
    #expect(Array(transport.asked.dropFirst(9)) == ["one", "two"])
    _ = await ask(upstreams, "after.example")
    #expect(Array(transport.asked.dropFirst(11)) == ["two"])
    clock.advance(by: .seconds(30))
    transport.reply { _ in Self.good }
    _ = await ask(upstreams, "back.example")
    _ = await ask(upstreams, "again.example")
    #expect(Array(transport.asked.dropFirst(12)) == ["one", "one"])
  }

  @Test func `a probe that another server outruns is the only one for 30 s`() async throws {
    let upstreams = upstreams("one", "two", hedges: true)
    transport.reply { $0.provider == "one" ? .down : Self.good }
    for round in 1...2 {
      // As many as two hedges need.
      for number in 0..<20 { _ = await ask(upstreams, "n\(number).of\(round).example") }
      transport.reply { $0.provider == "one" ? .silence : Self.good }
      clock.advance(by: .seconds(30))
      let probe = begin(upstreams, "probe\(round).example")
      await transport.waitForSent(Sample.name("probe\(round).example"))
      clock.advance(by: .milliseconds(150))
      #expect(provider(await probe.value) == 1)
      await transport.waitForCancelled(round)
      #expect(await ProcessState.eventually { clock.sleeperCount == 0 })
      let next = begin(upstreams, "next\(round).example")
      clock.advance(by: .milliseconds(150))
      #expect(provider(await next.value) == 1)
      try #require(transport.asked.suffix(3) == ["one", "two", "two"])
    }
  }

  @Test(arguments: [Script.code(.serverFailure), .code(.refused), .answer(.negative(.nameNotFound))])
  func `an RCODE never opens a breaker`(_ script: Script) async {
    let upstreams = upstreams("one", "two")
    transport.reply { $0.provider == "one" ? script : Self.good }
    for number in 0..<8 { _ = await ask(upstreams, "n\(number).example") }
    #expect(transport.asked.count { $0 == "one" } == 8)
  }

  @Test(arguments: [Script.down, .error(.tls("no")), .error(.timedOut), .status(500), .error(.bodyTooLarge)])
  func `connecting, TLS, time-outs, 5xx and what is no DNS reply do`(_ script: Script) async {
    let upstreams = upstreams("one", "two")
    transport.reply { $0.provider == "one" ? script : Self.good }
    for number in 0..<8 { _ = await ask(upstreams, "n\(number).example") }
    #expect(transport.asked.count { $0 == "one" } == 3)
  }

  @Test func `429 never opens a breaker, and keeps the provider from being asked until Retry-After is over`()
    async
  {
    let upstreams = upstreams("one", "two")
    transport.reply { $0.provider == "one" ? .status(429, retryAfter: 7) : Self.good }
    _ = await ask(upstreams)
    #expect(transport.asked == ["one", "two"])
    for _ in 0..<5 { _ = await ask(upstreams) }
    #expect(transport.asked.count { $0 == "one" } == 1)
    clock.advance(by: .seconds(7) - .nanoseconds(1))
    _ = await ask(upstreams)
    #expect(transport.asked.count { $0 == "one" } == 1)
    clock.advance(by: .nanoseconds(1))
    _ = await ask(upstreams)
    #expect(transport.asked.count { $0 == "one" } == 2)
    // Four times 429, and it is still the first one.
    for _ in 0..<2 {
      clock.advance(by: .seconds(7))
      _ = await ask(upstreams)
    }
    clock.advance(by: .seconds(7))
    transport.reply { _ in Self.good }
    #expect(provider(await ask(upstreams)) == 0)
  }

  @Test func `a lookup waits for the only provider as long as it asks for, within its deadline`() async throws {
    let upstreams = upstreams("one")
    transport.reply { _ in .status(429, retryAfter: 2) }
    #expect(failed(await ask(upstreams))?.attempts.map(\.provider) == ["one"])
    transport.reply { _ in Self.good }
    let lookup = begin(upstreams)
    await clock.waitForSleepers()
    clock.advance(by: .seconds(2))
    #expect(try await lookup.value.get().asked == Sample.at(2))
  }

  @Test func `when every breaker is open the one that opened first is asked all the same`() async {
    let upstreams = upstreams("one", "two")
    transport.reply { _ in .down }
    for number in 0..<3 {
      _ = await ask(upstreams, "n\(number).example")
      clock.advance(by: .seconds(1))
    }
    transport.reply { _ in Self.good }
    #expect(provider(await ask(upstreams)) == 0)
  }

  @Test func `one lookup counts at most once per server, be it for two families`() async {
    let upstreams = upstreams("one", "two")
    transport.reply { $0.provider == "one" ? .error(.connect("refused"), after: .seconds(1)) : Self.good }
    for number in 0..<2 {
      let lookups = [IPAddress.Family.ipv6, .ipv4].map { begin(upstreams, "n\(number).example", $0) }
      await transport.waitForSent(4 * number + 2)
      clock.advance(by: .seconds(1))
      for lookup in lookups { #expect(provider(await lookup.value) == 1) }
    }
    #expect(transport.asked.count { $0 == "one" } == 4)
    // Two lookups have failed: the breaker is still closed.
    let third = begin(upstreams, "n3.example")
    await transport.waitForSent(9)
    #expect(transport.asked.last == "one")
    await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    _ = await third.value
    transport.reply { _ in Self.good }
    #expect(provider(await ask(upstreams)) == 1)
  }

  @Test func `different lookups that fail side by side count each`() async {
    let upstreams = upstreams("one", "two")
    transport.reply { $0.provider == "one" ? .error(.connect("refused"), after: .seconds(1)) : Self.good }
    let lookups = (0..<3).map { begin(upstreams, "n\($0).example") }
    await clock.waitForSleepers(3)
    clock.advance(by: .seconds(1))
    for lookup in lookups { _ = await lookup.value }
    #expect(provider(await ask(upstreams)) == 1)
    #expect(transport.asked.last == "two")
  }

  @Test func `a change of network forgets health, and tells the transport`() async {
    let upstreams = upstreams("one", "two")
    transport.reply { $0.provider == "one" ? .down : Self.good }
    for number in 0..<3 { _ = await ask(upstreams, "n\(number).example") }
    upstreams.networkDidChange()
    transport.reply { _ in Self.good }
    #expect(provider(await ask(upstreams)) == 0)
    #expect(transport.networkChanges == 1)
  }

  // MARK: Deadlines

  @Test func `each attempt has 3 s and the providers together 3.5 s`() async {
    let upstreams = upstreams("one", "two", "three")
    transport.reply { _ in .silence }
    let lookup = begin(upstreams)
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(3))
    await transport.waitForSent(2)
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(500))
    let failed = failed(await lookup.value)
    #expect(failed?.isTimeout == true)
    #expect(failed?.attempts.map(\.provider) == ["one", "two"])
    #expect(transport.sent.map(\.at) == [Sample.at(0), Sample.at(3)])
    #expect(transport.sent.map(\.timeout) == [.milliseconds(3500), .milliseconds(500)])
    await transport.waitForCancelled(1)
    #expect(transport.cancelled.map(\.provider) == ["one"])
    #expect(await ProcessState.eventually { clock.sleeperCount == 0 })
  }

  @Test(arguments: [(true, 3.4), (false, 4.5), (false, 4.89)])
  func `the only provider is waited for until the providers' time is over`(_ hasSystem: Bool, _ seconds: Double) async {
    let upstreams = upstreams("one")
    transport.reply { _ in .answer(.addresses("192.0.2.1"), after: .milliseconds(Int64(seconds * 1000))) }
    let lookup = begin(upstreams, hasSystem: hasSystem)
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(Int64(seconds * 1000)))
    #expect(provider(await lookup.value) == 0)
  }

  @Test(arguments: [(true, 3500), (false, 4900)])
  func `and no longer`(_ hasSystem: Bool, _ milliseconds: Int) async {
    let upstreams = upstreams("one")
    transport.reply { _ in .silence }
    let lookup = begin(upstreams, hasSystem: hasSystem)
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(milliseconds))
    #expect(failed(await lookup.value)?.isTimeout == true)
  }

  @Test(arguments: [Script.down, .code(.serverFailure), .status(429, retryAfter: 60)])
  func `a slow provider is waited for when the others have failed`(_ others: Script) async {
    let upstreams = upstreams("one", "two", "three")
    transport.reply {
      $0.provider == "three" ? .answer(.addresses("192.0.2.1"), after: .milliseconds(4500)) : others
    }
    let lookup = begin(upstreams, hasSystem: false)
    await transport.waitForSent(3)
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(4500))
    #expect(provider(await lookup.value) == 2)
  }

  @Test func `a slow provider goes on when its hedge was the last one, and has failed`() async {
    let upstreams = upstreams("one", "two", hedges: true)
    transport.reply { $0.provider == "one" ? .answer(.addresses("192.0.2.1"), after: .milliseconds(4500)) : .down }
    let lookup = begin(upstreams, hasSystem: false)
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(150))
    await transport.waitForSent(2)
    clock.advance(by: .milliseconds(4350))
    #expect(provider(await lookup.value) == 0)
  }

  @Test func `a slow hedge goes on too`() async {
    let upstreams = upstreams("one", "two", hedges: true)
    transport.reply { $0.provider == "one" ? .silence : .answer(.addresses("192.0.2.1"), after: .milliseconds(4500)) }
    let lookup = begin(upstreams, hasSystem: false)
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(150))
    await transport.waitForSent(2)
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(4500))
    #expect(provider(await lookup.value) == 1)
  }

  @Test func `a slow provider is not given up for one whose breaker is open, which is asked beside it`() async {
    for (place, winner) in ["one", "two"].enumerated() {
      let upstreams = upstreams("one", "two")
      transport.reply { $0.provider == "two" ? .down : .code(.serverFailure) }
      for number in 0..<3 { _ = await ask(upstreams, "n\(number).example") }
      let before = transport.count
      transport.reply {
        guard $0.provider == winner else { return .silence }
        return .answer(.addresses("192.0.2.1"), after: winner == "one" ? .milliseconds(4500) : .milliseconds(1500))
      }
      let lookup = begin(upstreams, hasSystem: false)
      await transport.waitForSent(before + 1)
      clock.advance(by: .seconds(3))
      await transport.waitForSent(before + 2)
      await clock.waitForSleepers(2)
      // The loser of the round before, and nobody else.
      #expect(transport.cancelled.count == place)
      clock.advance(by: .milliseconds(1500))
      #expect(provider(await lookup.value) == place)
      await transport.waitForCancelled(place + 1)
      #expect(await ProcessState.eventually { clock.sleeperCount == 0 })
    }
  }

  @Test func `a slow provider is not given up for one whose rate is used up`() async {
    let upstreams = upstreams("one", "two", limits: ["two": RateLimit(perSecond: 0.1)])
    transport.reply { $0.provider == "two" ? .code(.serverFailure) : .down }
    _ = await ask(upstreams, "other.example")
    transport.reply { _ in .answer(.addresses("192.0.2.1"), after: .milliseconds(4500)) }
    let lookup = begin(upstreams, hasSystem: false)
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(3))
    clock.advance(by: .milliseconds(1500))
    #expect(provider(await lookup.value) == 0)
  }

  @Test func `an attempt that was given up counts as one that timed out`() async {
    let upstreams = upstreams("one", "two")
    transport.reply { $0.provider == "one" ? .silence : Self.good }
    for number in 0..<3 {
      let lookup = begin(upstreams, "n\(number).example")
      await transport.waitForSent(Sample.name("n\(number).example"))
      clock.advance(by: .seconds(3))
      #expect(provider(await lookup.value) == 1)
    }
    #expect(upstreams.tallies.map(\.failed) == [3, 0])
    #expect(upstreams.status.map(\.isBreakerOpen) == [true, false])
  }

  @Test func `a caller's own deadline scales them`() async {
    let upstreams = upstreams("one", "two")
    transport.reply { _ in .silence }
    let lookup = begin(upstreams, timeout: .seconds(1))
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(600))
    await transport.waitForSent(2)
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(100))
    #expect(failed(await lookup.value)?.isTimeout == true)
    #expect(transport.sent.map(\.timeout) == [.milliseconds(700), .milliseconds(100)])
  }

  @Test func `a lookup that failed otherwise is no time-out`() async {
    let upstreams = upstreams("one", "two")
    transport.reply { $0.provider == "one" ? .down : .error(.timedOut) }
    #expect(failed(await ask(upstreams))?.isTimeout == false)
    transport.reply { _ in .error(.timedOut) }
    #expect(failed(await ask(upstreams, "other.example"))?.isTimeout == true)
  }

  @Test func `a lookup that begins too late asks nobody`() async {
    let upstreams = upstreams("one")
    let failed = failed(await begin(upstreams, at: clock.now - .seconds(4)).value)
    #expect(failed?.isTimeout == true)
    #expect(transport.count == 0)
  }

  @Test func `the time that a server's own address took is the attempt's`() async {
    let upstreams = upstreams("one", hasBootstrap: false)
    system.answer(Script.addresses("192.0.2.53", after: .seconds(1)))
    transport.reply { _ in .silence }
    let lookup = begin(upstreams)
    for asked in 1...2 {
      await system.waitForAsked(asked)
      clock.advance(by: .seconds(1))
    }
    await transport.waitForSent(1)
    #expect(transport.sent.map(\.addresses) == [Sample.addresses("192.0.2.53")])
    #expect(transport.sent.map(\.timeout) == [.milliseconds(1500)])
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(1500))
    #expect(failed(await lookup.value)?.isTimeout == true)
  }

  @Test
  func `a server whose own address cannot be found is a failure with the reason, and the next is asked`()
    async
  {
    let upstreams = upstreams("one", hasBootstrap: false)
    let failed = failed(await ask(upstreams))
    #expect(failed?.attempts.first?.reason.contains("one.example") == true)
    #expect(transport.count == 0)
  }

  @Test(arguments: [(HTTPTransportError.timedOut, 4), (.connect("refused"), 4), (.tls("expired"), 2)])
  func `a server whose address nobody answers at is looked up again`(
    _ error: HTTPTransportError, _ count: Int
  ) async {
    let upstreams = upstreams("one", hasBootstrap: false)
    system.answer { $0.family == .ipv4 ? .answer(.addresses("192.0.2.53")) : .answer(.negative(.noAddress)) }
    transport.reply { _ in .error(error) }
    _ = await ask(upstreams)
    #expect(system.count == 2)
    _ = await ask(upstreams)
    #expect(system.count == count)
  }

  // MARK: Hedging

  @Test
  func `a second provider is asked when the first takes more than 150 ms, and the first good reply wins`()
    async
  {
    let upstreams = upstreams("one", "two", hedges: true)
    transport.reply { $0.provider == "one" ? .silence : Self.good }
    let lookup = begin(upstreams)
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(150) - .nanoseconds(1))
    #expect(transport.asked == ["one"])
    clock.advance(by: .nanoseconds(1))
    #expect(provider(await lookup.value) == 1)
    #expect(clock.now == Sample.at(0.15))
    #expect(transport.asked == ["one", "two"])
    // The loser was cancelled, and that says nothing about it.
    await transport.waitForCancelled(1)
    #expect(transport.cancelled.map(\.provider) == ["one"])
    #expect(await ProcessState.eventually { clock.sleeperCount == 0 })
  }

  @Test func `the first provider can still win, and then the second is cancelled`() async {
    let upstreams = upstreams("one", "two", hedges: true)
    transport.reply {
      .answer(.addresses("192.0.2.1"), after: $0.provider == "one" ? .milliseconds(200) : .seconds(1))
    }
    let lookup = begin(upstreams)
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(150))
    await transport.waitForSent(2)
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(50))
    #expect(provider(await lookup.value) == 0)
    await transport.waitForCancelled(1)
    #expect(transport.cancelled.map(\.provider) == ["two"])
  }

  @Test(arguments: [Script.down, .code(.serverFailure), .status(500)])
  func `a hedge that fails does not end the race`(_ script: Script) async {
    let upstreams = upstreams("one", "two", hedges: true)
    transport.reply {
      $0.provider == "one" ? .answer(.addresses("192.0.2.1"), after: .milliseconds(400)) : script
    }
    let lookup = begin(upstreams)
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(150))
    await transport.waitForSent(2)
    clock.advance(by: .milliseconds(250))
    #expect(provider(await lookup.value) == 0)
  }

  @Test func `a first provider that fails is replaced at once, without waiting for the delay`() async {
    let upstreams = upstreams("one", "two", hedges: true)
    transport.reply { $0.provider == "one" ? .down : Self.good }
    #expect(provider(await ask(upstreams)) == 1)
    #expect(clock.now == Sample.at(0))
    #expect(await ProcessState.eventually { clock.sleeperCount == 0 })
  }

  @Test func `a provider is hedged at its own 95th percentile once that is known`() async {
    let upstreams = upstreams("one", "two", hedges: true)
    transport.reply { _ in .answer(.addresses("192.0.2.1"), after: .milliseconds(20)) }
    for number in 0..<8 {
      let lookup = begin(upstreams, "n\(number).example")
      await transport.waitForSent(Sample.name("n\(number).example"))
      clock.advance(by: .milliseconds(20))
      #expect(provider(await lookup.value) == 0)
    }
    transport.reply { $0.provider == "one" ? .silence : Self.good }
    let lookup = begin(upstreams)
    await transport.waitForSent(8 + 1)
    clock.advance(by: .milliseconds(20) - .nanoseconds(1))
    #expect(transport.count == 8 + 1)
    clock.advance(by: .nanoseconds(1))
    #expect(provider(await lookup.value) == 1)
  }

  @Test func `hedges are at most a tenth of the queries of a minute, rounded up`() async {
    let upstreams = upstreams("one", "two", hedges: true)
    transport.reply { $0.provider == "one" ? .answer(.addresses("192.0.2.1"), after: .seconds(1)) : .silence }
    for number in 0..<20 {
      let lookup = begin(upstreams, "n\(number).example")
      await transport.waitForSent(Sample.name("n\(number).example"))
      clock.advance(by: .milliseconds(200))
      if number == 0 { await transport.waitForSent(2) }
      clock.advance(by: .milliseconds(800))
      #expect(provider(await lookup.value) == 0)
    }
    #expect((1...2).contains(transport.asked.count { $0 == "two" }))
  }

  @Test func `without hedging the second provider waits for the first one's failure`() async {
    let upstreams = upstreams("one", "two")
    transport.reply { $0.provider == "one" ? .silence : Self.good }
    let lookup = begin(upstreams)
    await clock.waitForSleepers(2)
    clock.advance(by: .seconds(3) - .nanoseconds(1))
    #expect(transport.count == 1)
    clock.advance(by: .nanoseconds(1))
    #expect(provider(await lookup.value) == 1)
    #expect(clock.now == Sample.at(3))
  }

  @Test func `a hedge goes to no provider whose bucket is empty`() async {
    let upstreams = upstreams("one", "two", "three", hedges: true, limits: ["two": RateLimit(perSecond: 0.1)])
    // The only token of the second one goes to a lookup that the first one fails.
    transport.reply { $0.provider == "one" ? .down : Self.good }
    #expect(provider(await ask(upstreams, "other.example")) == 1)
    transport.reply { $0.provider == "one" ? .silence : Self.good }
    let lookup = begin(upstreams)
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(150))
    #expect(provider(await lookup.value) == 2)
  }

  @Test func `a server that waits for its own address does not hold up the winner`() async {
    var configuration = ResolverFixture.configuration(["one", "two"])
    configuration.providers[0].bootstrap = []
    let upstreams = QueryFixture(
      configuration, transport: transport, clock: clock, bootstrap: Bootstrap(system: system, clock: clock))
    system.answer { _ in .silence }
    transport.reply { _ in Self.good }
    let lookup = begin(upstreams)
    await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(150))
    #expect(provider(await lookup.value) == 1)
    #expect(clock.now == Sample.at(0.15))
    // What still waits for the system is let go, and not asked again: a task that never ends is a leak.
    system.answer { _ in .error(.connectionLost("no name server")) }
    clock.advance(by: .seconds(60))
  }

  // MARK: Rates

  @Test func `an empty bucket is no failure: the next provider is asked`() async {
    let upstreams = upstreams("one", "two", limits: ["one": RateLimit(perSecond: 2)])
    transport.reply { _ in Self.good }
    for number in 0..<5 { _ = await ask(upstreams, "n\(number).example") }
    #expect(transport.asked == ["one", "one", "two", "two", "two"])
    clock.advance(by: .milliseconds(500))
    _ = await ask(upstreams)
    #expect(transport.asked.last == "one")
  }

  @Test func `when all buckets are empty the lookup waits its turn`() async throws {
    let upstreams = upstreams(
      "one", "two", limits: ["one": RateLimit(perSecond: 0.5), "two": RateLimit(perSecond: 1)])
    transport.reply { _ in Self.good }
    for number in 0..<2 { _ = await ask(upstreams, "n\(number).example") }
    let lookup = begin(upstreams)
    await clock.waitForSleepers()
    #expect(transport.count == 2)
    clock.advance(by: .seconds(1))
    let answered = try await lookup.value.get()
    #expect(answered.server == 1)
    #expect(answered.asked == Sample.at(1))
  }

  @Test func `a lookup whose turn would come after its deadline fails at once, and says why`() async {
    let upstreams = upstreams("one", limits: ["one": RateLimit(perSecond: 0.1)])
    transport.reply { _ in Self.good }
    _ = await ask(upstreams)
    let failed = failed(await ask(upstreams, "other.example"))
    #expect(failed?.attempts.map(\.provider) == ["one"])
    #expect(failed?.attempts.first?.reason.contains("rate") == true)
    #expect(transport.count == 1)
    #expect(clock.now == Sample.at(0))
  }

  @Test func `many lookups of one second go out by the rate, none is lost`() async throws {
    let upstreams = upstreams("one", limits: ["one": RateLimit(perSecond: 10, burst: 1)])
    transport.reply { _ in Self.good }
    let lookups = (0..<20).map { begin(upstreams, "n\($0).example") }
    for waiting in stride(from: 19, through: 1, by: -1) {
      await transport.waitForSent(20 - waiting)
      await clock.waitForSleepers()
      clock.advance(by: .milliseconds(100))
    }
    for lookup in lookups { #expect(provider(await lookup.value) == 0) }
    #expect(transport.count == 20)
    #expect(clock.now == Sample.at(1.9))
  }

  @Test func `those who wait for their turn are served in the order of their coming`() async throws {
    let upstreams = upstreams("one", limits: ["one": RateLimit(perSecond: 10, burst: 1)])
    transport.reply { _ in Self.good }
    let lookups = (0..<10).map { begin(upstreams, "n\($0).example") }
    await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    for lookup in lookups { _ = await lookup.value }
    #expect(Set(transport.sent.map(\.question.host.text)).count == 10)
    // A late clock: each had its own instant, and nobody lost his to another.
    #expect(provider(await ask(upstreams, "late.example")) == 0)
    #expect(await ProcessState.eventually { clock.sleeperCount == 0 })
  }

  @Test func `a turn that comes while the provider says 429 is put off until it may be asked`() async throws {
    let upstreams = upstreams("one", limits: ["one": RateLimit(perSecond: 1)])
    transport.reply { _ in .status(429, retryAfter: 2) }
    _ = await ask(upstreams, "n0.example")
    #expect(upstreams.pause(at: clock.now)?.end == Sample.at(2))
    transport.reply { _ in Self.good }
    let lookup = begin(upstreams, "n1.example")
    await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    #expect(transport.count == 1)
    clock.advance(by: .seconds(1))
    #expect(try await lookup.value.get().asked == Sample.at(2))
  }

  // MARK: What a warm-up goes by

  @Test func `all are blocked when each said 429, and until the first may be asked again`() async {
    let upstreams = upstreams("one", "two")
    #expect(upstreams.pause(at: Sample.at(0)) == nil)
    transport.reply { .status(429, retryAfter: $0.provider == "one" ? 30 : 10) }
    _ = await ask(upstreams)
    #expect(upstreams.pause(at: Sample.at(0))?.end == Sample.at(10))
    #expect(upstreams.pause(at: Sample.at(0))?.server == "two")
    #expect(upstreams.pause(at: Sample.at(11)) == nil)
    #expect(!upstreams.areAllOpen())
  }

  @Test func `all are open when each failed three times in a row`() async {
    let upstreams = upstreams("one", "two")
    for number in 0..<2 { _ = await ask(upstreams, "n\(number).example") }
    #expect(!upstreams.areAllOpen())
    _ = await ask(upstreams, "n2.example")
    #expect(upstreams.areAllOpen())
  }

  @Test func `queries are counted by provider`() async {
    let upstreams = upstreams("one", "two")
    transport.reply { $0.provider == "one" ? .down : Self.good }
    _ = await ask(upstreams, "n0.example")
    _ = await ask(upstreams, "n1.example")
    #expect(upstreams.tallies.map(\.queries) == [2, 2])
    #expect(upstreams.tallies.map(\.failed) == [2, 0])
  }

  // MARK: The end

  @Test func `a transport that is shut down is no failure of the providers`() async {
    let upstreams = upstreams("one")
    transport.reply { _ in .silence }
    let lookup = begin(upstreams)
    await clock.waitForSleepers()
    transport.shutdown()
    #expect(failed(await lookup.value)?.isCancelled == true)
  }
}
