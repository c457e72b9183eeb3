// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// One question and several servers.
///
/// No cache stands before them.
@Suite(.timeLimit(.minutes(1)))
struct QueryMachineTests {
  typealias Outcome = QueryFixture.Outcome

  let clock = ManualClock()
  let transport: ScriptedTransport
  let system: ScriptedSystem

  init() {
    transport = ScriptedTransport(clock: clock)
    system = ScriptedSystem(clock: clock)
  }

  func upstreams(
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

  func begin(
    _ upstreams: QueryFixture, _ host: String = "www.example.net", _ family: IPAddress.Family = .ipv4,
    timeout: Duration = .seconds(5), at start: ResolverInstant? = nil, hasSystem: Bool = true
  ) -> Task<Outcome, Never> {
    let question = AddressQuestion(Sample.name(host), family)
    let deadlines = LookupDeadlines(timeout: timeout, from: start ?? clock.now, hasSystem: hasSystem)
    return Task.immediate {
      do throws(QueryMachine.QuestionFailure) {
        return .success(try await upstreams.answer(question, deadlines))
      } catch {
        return .failure(error)
      }
    }
  }

  func ask(
    _ upstreams: QueryFixture, _ host: String = "www.example.net", _ family: IPAddress.Family = .ipv4
  ) async -> Outcome {
    await begin(upstreams, host, family).value
  }

  /// The place of the provider that answered.
  func provider(_ outcome: Outcome) -> Int? { try? outcome.get().server.number.rawValue }

  func failed(_ outcome: Outcome) -> QueryMachine.QuestionFailure? {
    if case .failure(let failed) = outcome { failed } else { nil }
  }

  static let good = Script.answer(.addresses("192.0.2.1"))

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
    #expect(failed?.attempts.map(\.server) == ["one", "two", "three"])
    #expect(failed?.attempts[0].reason.contains("SERVFAIL") == true)
    #expect(failed?.attempts[1].reason == "TLS: certificate expired")
    #expect(failed?.attempts[2].reason.contains("500") == true)
    #expect(failed?.cause == .failed)
    #expect(transport.asked == ["one", "two", "three"])
  }

  @Test func `without providers nobody answers`() async {
    let failed = failed(await ask(upstreams()))
    #expect(failed?.attempts == [])
    #expect(failed?.cause == .failed)
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
    #expect(answered.server.number == 1)
    #expect(answered.asked == Sample.at(1))
  }

  @Test func `a lookup whose turn would come after its deadline fails at once, and says why`() async {
    let upstreams = upstreams("one", limits: ["one": RateLimit(perSecond: 0.1)])
    transport.reply { _ in Self.good }
    _ = await ask(upstreams)
    let failed = failed(await ask(upstreams, "other.example"))
    #expect(failed?.attempts.map(\.server) == ["one"])
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
    #expect(await clock.waitForNoSleepers())
  }

  @Test func `a turn that comes while the provider says 429 is put off until it may be asked`() async throws {
    let upstreams = upstreams("one", limits: ["one": RateLimit(perSecond: 1)])
    transport.reply { _ in .status(429, retryAfter: 2) }
    _ = await begin(upstreams, "n0.example", timeout: .seconds(1)).value
    #expect(upstreams.pause(at: clock.now)?.end == Sample.at(2))
    transport.reply { _ in Self.good }
    let lookup = begin(upstreams, "n1.example")
    await clock.waitForSleepers()
    clock.advance(by: .seconds(1))
    upstreams.timePassed()
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
    #expect(failed(await lookup.value)?.cause == .cancelled)
  }
}
