// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// What follows from the end of a question that the system's DNS was asked.
struct LookupMachineEndsTests {
  private static let host = Sample.name("nas.local")
  private static let other = Sample.name("printer.local")
  private static let silence = Result<Answer, ProviderFailure>.failure(ProviderFailure(.transport, "timed out"))
  private static let answer = Result<Answer, ProviderFailure>.success(.addresses("192.0.2.1"))

  private struct Unused: SystemSource {
    func answer(
      to host: HostName, family: IPAddress.Family, timeout: Duration
    ) async throws(ProviderFailure) -> Answer {
      throw ProviderFailure(.transport, "nobody asks it here")
    }
  }

  private static func settings(_ configure: (inout ResolverConfiguration) -> Void = { _ in }) -> ResolverSettings {
    var configuration = ResolverFixture.configuration(["one"])
    configuration.hedges = false
    configure(&configuration)
    return ResolverSettings(configuration, system: Unused())
  }

  private static func machine() -> LookupMachine {
    let settings = settings()
    let cache = AnswerCache(policy: settings.configuration.cache, capacity: 100)
    return LookupMachine(settings, cache: cache, hasStore: false, hasLeases: false, seed: 1, at: Sample.at(0))
  }

  /// Begins a lookup of a name that is the system's alone, unless it is a public one.
  private static func begin(
    _ machine: inout LookupMachine, _ host: HostName = host, timeout: Duration? = nil, at seconds: Double
  ) {
    _ = machine.begin(
      LookupRequest(
        host: host, wanted: .ipv4, route: machine.settings.configuration.localZones.route(for: host), expired: .allowed,
        timeout: timeout, purpose: .handingOut, prefersIPv6: true), at: Sample.at(seconds))
  }

  /// The questions that the system's DNS is asked, and how many pauses are told to be over.
  private static func asked(_ machine: inout LookupMachine) -> (
    numbers: [Number<InFlightQuestion>], released: [Int]
  ) {
    var (numbers, released): ([Number<InFlightQuestion>], [Int]) = ([], [])
    for action in machine.takeActions() {
      switch action {
      case .askSystem(let number, _, _, _): numbers.append(number)
      case .report(.released(let count)): released.append(count)
      default: break
      }
    }
    return (numbers, released)
  }

  @Test func `what the system's DNS failed is asked for again once it answers, and before that it is not`() throws {
    var machine = Self.machine()
    for failedAt in [0.0, 1, 3] {
      Self.begin(&machine, at: failedAt)
      let number = try #require(Self.asked(&machine).numbers.first)
      machine.systemAnswered(number, Self.silence, at: Sample.at(failedAt))
    }
    Self.begin(&machine, at: 4.9)
    #expect(Self.asked(&machine).numbers == [], "it has failed three times, and is left alone for 4 s")
    Self.begin(&machine, Self.other, at: 5)
    let number = try #require(Self.asked(&machine).numbers.first)
    machine.systemAnswered(number, Self.answer, at: Sample.at(5))
    // Here and among the cache's failures.
    #expect(Self.asked(&machine).released == [2])
    Self.begin(&machine, at: 5)
    #expect(Self.asked(&machine).numbers.count == 1)
  }

  @Test func `a single pause that ends is told, and none is not`() throws {
    var machine = Self.machine()
    Self.begin(&machine, Self.other, at: 0)
    machine.systemAnswered(try #require(Self.asked(&machine).numbers.first), Self.answer, at: Sample.at(0))
    #expect(Self.asked(&machine).released == [])

    // The fallback of a public name is remembered in one place.
    let failed = QueryMachine.Reply(
      ProviderFailure(.transport, "refused"), .connect("refused"), asked: Sample.at(0),
      to: .one(AddressQuestion(ResolverFixture.host, .ipv4)))
    for (query, failedAt): (QueryMachine.QueryNumber, Double) in [(1, 100.0), (2, 101), (3, 103)] {
      Self.begin(&machine, ResolverFixture.host, at: failedAt)
      machine.ended(query, failed, at: Sample.at(failedAt))
      let number = try #require(Self.asked(&machine).numbers.first)
      machine.systemAnswered(number, Self.silence, at: Sample.at(failedAt))
    }
    Self.begin(&machine, Self.other, at: 170)
    machine.systemAnswered(try #require(Self.asked(&machine).numbers.first), Self.answer, at: Sample.at(170))
    #expect(Self.asked(&machine).released == [], "the pause was over by itself")
  }

  @Test func `a question to the system's DNS that fails on a network that is left is asked again`() throws {
    var machine = Self.machine()
    Self.begin(&machine, at: 0)
    let first = try #require(Self.asked(&machine).numbers.first)
    machine.networkDidChange(at: Sample.at(1))
    #expect(Self.asked(&machine).numbers == [])
    machine.systemAnswered(first, Self.silence, at: Sample.at(2))
    let second = try #require(Self.asked(&machine).numbers.first)
    machine.systemAnswered(second, Self.silence, at: Sample.at(3))
    #expect(Self.asked(&machine).numbers == [], "nobody has moved since")
  }

  @Test
  func `a question to the system's DNS that fails under a former configuration is asked again, and not remembered`()
    throws
  {
    var machine = Self.machine()
    Self.begin(&machine, at: 0)
    let first = try #require(Self.asked(&machine).numbers.first)
    machine.update(Self.settings(), at: Sample.at(1))
    Self.begin(&machine, at: 1)
    let second = try #require(Self.asked(&machine).numbers.first, "nobody joins the old one")
    machine.systemAnswered(first, Self.silence, at: Sample.at(2))
    #expect(Self.asked(&machine).numbers == [], "it waits for the new one")
    machine.systemAnswered(second, Self.answer, at: Sample.at(2.5))
    #expect(machine.lookupCount == 0)

    Self.begin(&machine, Self.other, at: 10)
    let last = try #require(Self.asked(&machine).numbers.first)
    machine.update(Self.settings(), at: Sample.at(11))
    machine.systemAnswered(last, Self.silence, at: Sample.at(11.5))
    #expect(Self.asked(&machine).numbers.count == 1)
  }

  @Test func `one who waits for the system's DNS has the time of the whole, and not of the providers`() throws {
    var machine = Self.machine()
    Self.begin(&machine, timeout: .milliseconds(900), at: 0)
    let first = try #require(Self.asked(&machine).numbers.first)
    // Of his 1.2 s the providers have 0.84.
    Self.begin(&machine, timeout: .milliseconds(1200), at: 0)
    machine.systemAnswered(first, Self.silence, at: Sample.at(0.9))
    #expect(Self.asked(&machine).numbers.count == 1)
  }

  @Test(arguments: [(pinned: true, local: false), (false, true), (false, false)])
  func `the system's answer to a name that is looked up elsewhere by now is not kept`(
    _ isMoved: (pinned: Bool, local: Bool)
  ) throws {
    var machine = Self.machine()
    Self.begin(&machine, at: 0)
    let number = try #require(Self.asked(&machine).numbers.first)
    machine.update(
      Self.settings {
        if isMoved.pinned { $0.localZones.pins = [Self.host: Sample.addresses("192.0.2.9")] }
        if isMoved.local { $0.localZones.suffixes = [Sample.name("example")] }
      }, at: Sample.at(1))
    machine.systemAnswered(number, Self.answer, at: Sample.at(2))
    #expect((machine.cache.value(Self.host)?.ipv4.entry == nil) == isMoved.pinned)
  }

  @Test func `the system's answer to a public name is kept where it was asked after the providers`() throws {
    var machine = Self.machine()
    Self.begin(&machine, ResolverFixture.host, at: 0)
    let failed = QueryMachine.Reply(
      ProviderFailure(.transport, "refused"), .connect("refused"), asked: Sample.at(0),
      to: .one(AddressQuestion(ResolverFixture.host, .ipv4)))
    machine.ended(1, failed, at: Sample.at(0))
    let number = try #require(Self.asked(&machine).numbers.first)
    machine.update(Self.settings(), at: Sample.at(1))
    machine.systemAnswered(number, Self.answer, at: Sample.at(2))
    #expect(machine.cache.value(ResolverFixture.host)?.ipv4.entry != nil)
  }
}
