// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// What follows the events that the servers' machine is told of, in moved time.
struct QueryMachineEventsTests {
  private static let question = AddressQuestion(ResolverFixture.host, .ipv4)
  private static let records = DNSQuestion(name: DNSName(ResolverFixture.host), type: .a)

  private static func configuration(
    _ providers: [String], isBatching: Bool = false, rate: RateLimit? = nil
  ) -> ResolverConfiguration {
    var configuration = ResolverFixture.configuration(providers)
    configuration.hedges = false
    configuration.providers[0].rateLimit = rate
    if isBatching { configuration.providers[0].provider = LookupWorld.ManyAtOnce(name: providers[0]) }
    return configuration
  }

  private static func machine(_ configuration: ResolverConfiguration) -> QueryMachine {
    var machine = QueryMachine(configuration, at: Sample.at(0))
    // What it says of breakers at its beginning.
    _ = machine.takeActions()
    return machine
  }

  private static let deadlines = LookupDeadlines(timeout: .seconds(5), from: Sample.at(0), hasSystem: false)

  private static func failed(_ error: HTTPTransportError) -> QueryMachine.Reply {
    QueryMachine.Reply(ProviderFailure(error), error, asked: Sample.at(0), to: .one(question))
  }

  /// What a machine wants done, and then what has ended, in words.
  private static func words(_ machine: inout QueryMachine) -> [String] {
    let actions = machine.takeActions().map { action -> String in
      switch action {
      case .send(let query, let server, _, _): "\(query) to \(server.number)"
      case .cancel(let query): "cancel \(query)"
      case .ended: "ended"
      case .waits: "waits"
      case .breaker(let server, let isOpen): "\(server.name) \(isOpen ? "open" : "closed")"
      case .removed(let server): "\(server.name) removed"
      case .opened(let server): "\(server.name) opened"
      }
    }
    let endings = machine.takeEndings().map { ending -> String in
      switch ending {
      case .one(let number, .success(let answered)): "\(number) answered by \(answered.server.name)"
      case .one(let number, .failure(let failed)): "\(number) \(failed.cause): \(failed.attempts.map(\.server))"
      case .batch(let number, let outcomes): "batch \(number): \(outcomes.count)"
      case .records(let number, .success): "records \(number)"
      case .records(let number, .failure(let failed)): "records \(number) \(failed.cause)"
      }
    }
    return actions + endings
  }

  // MARK: One question

  @Test func `a server that has failed a question already is not asked, and told among those that failed`() {
    var machine = Self.machine(Self.configuration(["one", "two"]))
    let failure = QueryMachine.ServerFailure(
      server: 0, attempt: .init(server: "one", reason: "refused"), cause: .failed)
    machine.ask(7, .one(Self.question), Self.deadlines, after: failure, at: Sample.at(0))
    #expect(Self.words(&machine) == ["1 to 1"])
    machine.ended(1, Self.failed(.connect("refused")), at: Sample.at(0))
    #expect(Self.words(&machine).last == "7 failed: [\"one\", \"two\"]")
  }

  @Test func `a question that nobody wants any more ends with its query, whose own end says no more of it`() {
    var machine = Self.machine(Self.configuration(["one", "two"]))
    machine.ask(7, .one(Self.question), Self.deadlines, at: Sample.at(0))
    #expect(Self.words(&machine) == ["1 to 0"])
    machine.cancel(7)
    machine.cancel(7)
    #expect(Self.words(&machine) == ["cancel 1", "7 cancelled: []"])
    for _ in 0..<2 { machine.ended(1, Self.failed(.cancelled), at: Sample.at(1)) }
    #expect(Self.words(&machine) == ["ended"])
    #expect(machine.nextInstant() == nil && machine.pending.isEmpty && machine.queries.isEmpty)
  }

  @Test func `several questions are not asked together of a server that takes one at a time`() {
    var machine = Self.machine(Self.configuration(["one", "two"]))
    machine.askTogether(3, [Self.question, Self.question.ofOtherFamily], Self.deadlines, at: Sample.at(0))
    #expect(Self.words(&machine) == ["batch 3: 0"])
  }

  // MARK: All questions

  @Test func `servers that a configuration leaves out are told, and whoever stays says how it is`() {
    var machine = Self.machine(Self.configuration(["one", "two"]))
    machine.update(Self.configuration(["two", "three"]), at: Sample.at(1))
    #expect(Self.words(&machine) == ["one removed", "two closed", "three closed"])
    machine.ask(1, .one(Self.question), Self.deadlines, at: Sample.at(1))
    #expect(Self.words(&machine) == ["1 to 1"])
  }

  @Test func `on another network every question begins anew, and those of a batch have to be asked one by one`() {
    var machine = Self.machine(Self.configuration(["one", "two"], isBatching: true))
    machine.ask(1, .one(Self.question), Self.deadlines, at: Sample.at(0))
    machine.ended(1, Self.failed(.connect("refused")), at: Sample.at(0))
    machine.askTogether(2, [Self.question.ofOtherFamily], Self.deadlines, at: Sample.at(0))
    #expect(Self.words(&machine) == ["1 to 0", "ended", "2 to 1", "3 to 0"])
    machine.networkDidChange(at: Sample.at(1))
    #expect(Self.words(&machine) == ["one closed", "two closed", "cancel 2", "4 to 0", "cancel 3", "batch 2: 0"])
    for query: QueryMachine.QueryNumber in [2, 3] { machine.ended(query, Self.failed(.cancelled), at: Sample.at(1)) }
    #expect(Self.words(&machine) == [], "their ends say nothing of this network")
  }

  @Test func `whoever has a request of a server's rate reserved keeps it on another network`() {
    var machine = Self.machine(Self.configuration(["one"], rate: RateLimit(perSecond: 1, burst: 1)))
    for number: QueryMachine.QuestionNumber in [1, 2] {
      machine.ask(number, .one(Self.question), Self.deadlines, at: Sample.at(0))
    }
    #expect(Self.words(&machine) == ["1 to 0", "waits"])
    machine.networkDidChange(at: Sample.at(0.5))
    _ = Self.words(&machine)
    machine.timePassed(at: Sample.at(1))
    #expect(Self.words(&machine) == ["2 to 0"])
    #expect(machine.queries[2]?.question == 2)
  }

  @Test func `whoever waits for the request rate of a server that is removed asks the others at once`() {
    let limited = RateLimit(perSecond: 1, burst: 1)
    var former = Self.configuration(["one", "two"], rate: limited)
    former.providers[1].rateLimit = limited
    var machine = Self.machine(former)
    for number: QueryMachine.QuestionNumber in [1, 2, 3, 4] {
      machine.ask(number, .one(Self.question), Self.deadlines, at: Sample.at(0))
    }
    #expect(Self.words(&machine) == ["1 to 0", "2 to 1", "waits", "waits"])
    // The third has a request of the first server reserved, and the fourth one of the second.
    machine.update(Self.configuration(["two"]), at: Sample.at(0.25))
    machine.renewTurns(at: Sample.at(0.25))
    #expect(Self.words(&machine) == ["one removed", "two closed", "3 to 1", "4 to 1"])
    // When the first query is late: nobody's turn is to come any more.
    #expect(machine.nextInstant() == Sample.at(3))
  }

  @Test func `whoever waits for the request rate of the only server ends when that is removed`() {
    var machine = Self.machine(Self.configuration(["one"], rate: RateLimit(perSecond: 1, burst: 1)))
    machine.ask(1, .one(Self.question), Self.deadlines, at: Sample.at(0))
    machine.ask(2, .one(Self.question), Self.deadlines, at: Sample.at(0))
    #expect(Self.words(&machine) == ["1 to 0", "waits"])
    machine.update(Self.configuration(["two"]), at: Sample.at(0.25))
    machine.renewTurns(at: Sample.at(0.25))
    #expect(Self.words(&machine) == ["one removed", "two closed", "2 failed: []"])
    #expect(machine.nextInstant() == nil)
  }

  @Test func `whoever waits for a server whose request rate is raised goes by the new one, in the same order`() {
    var machine = Self.machine(Self.configuration(["one"], rate: RateLimit(perSecond: 1, burst: 1)))
    for number: QueryMachine.QuestionNumber in [1, 2, 3, 4] {
      machine.ask(number, .one(Self.question), Self.deadlines, at: Sample.at(0))
    }
    #expect(Self.words(&machine) == ["1 to 0", "waits", "waits", "waits"])
    machine.update(Self.configuration(["one"], rate: RateLimit(perSecond: 4, burst: 1)), at: Sample.at(0.5))
    machine.renewTurns(at: Sample.at(0.5))
    #expect(Self.words(&machine) == ["one closed"])
    // Half a request had come by the old rate.
    for (query, instant) in [(2, 0.625), (3, 0.875), (4, 1.125)] {
      #expect(machine.nextInstant() == Sample.at(instant))
      machine.timePassed(at: Sample.at(instant))
      #expect(Self.words(&machine) == ["\(query) to 0"])
      #expect(machine.queries[.init(rawValue: query)]?.question.rawValue == query)
    }
  }

  @Test func `whoever leaves while he waits for a request rate leaves his turn to those behind him`() {
    var machine = Self.machine(Self.configuration(["one"], rate: RateLimit(perSecond: 1, burst: 1)))
    for number: QueryMachine.QuestionNumber in [1, 2, 3, 4] {
      machine.ask(number, .one(Self.question), Self.deadlines, at: Sample.at(0))
    }
    machine.cancel(2)
    #expect(Self.words(&machine) == ["1 to 0", "waits", "waits", "waits", "2 cancelled: []"])
    // The last turn is free again.
    machine.ask(5, .one(Self.question), Self.deadlines, at: Sample.at(0.5))
    #expect(Self.words(&machine) == ["waits"])
    for (query, question, second) in [(2, 3, 1.0), (3, 4, 2), (4, 5, 3)] {
      #expect(machine.nextInstant() == Sample.at(second))
      machine.timePassed(at: Sample.at(second))
      #expect(Self.words(&machine) == ["\(query) to 0"])
      #expect(machine.queries[.init(rawValue: query)]?.question.rawValue == question)
    }
    #expect(machine.nextInstant() == nil)
  }

  @Test func `the last one who waits for a request rate leaves his turn to the next one who comes`() {
    var machine = Self.machine(Self.configuration(["one"], rate: RateLimit(perSecond: 1, burst: 1)))
    for number: QueryMachine.QuestionNumber in [1, 2, 3] {
      machine.ask(number, .one(Self.question), Self.deadlines, at: Sample.at(0))
    }
    for number: QueryMachine.QuestionNumber in [3, 2] { machine.cancel(number) }
    #expect(machine.nextInstant() == nil)
    machine.ask(4, .one(Self.question), Self.deadlines, at: Sample.at(0))
    #expect(machine.nextInstant() == Sample.at(1))
  }

  /// A machine of two servers, the first of which has a request each second, and the second has failed.
  private static func limitedBesideFailed() -> QueryMachine {
    var machine = machine(configuration(["one", "two"], rate: RateLimit(perSecond: 1, burst: 1)))
    for end in 1...3 {
      let lookup = ServerHealth.LookupKey(host: ResolverFixture.host, end: Sample.at(Double(end)))
      machine.states.ended(
        1, .failure(ProviderFailure(.transport, "no")), of: lookup, in: .zero, at: Sample.at(0))
    }
    return machine
  }

  @Test func `a server that has failed stands in for one whose rate is used up only until that has a request again`() {
    var machine = Self.limitedBesideFailed()
    for number: QueryMachine.QuestionNumber in [1, 2] {
      machine.ask(number, .one(Self.question), Self.deadlines, at: Sample.at(0))
    }
    #expect(Self.words(&machine) == ["1 to 0", "2 to 1"])
    for second in [0.149, 0.15, 0.9] {
      machine.timePassed(at: Sample.at(second))
      #expect(Self.words(&machine) == [])
    }
    machine.timePassed(at: Sample.at(1.1))
    #expect(Self.words(&machine) == ["cancel 2", "3 to 0", "ended"])
  }

  @Test func `a server that has failed, and answers while it stands in for another, has answered`() {
    var machine = Self.limitedBesideFailed()
    for number: QueryMachine.QuestionNumber in [1, 2] {
      machine.ask(number, .one(Self.question), Self.deadlines, at: Sample.at(0))
    }
    let answer = QueryMachine.Reply(
      asked: Sample.at(0), reading: .one(.success(.addresses("192.0.2.1"))), status: 200)
    machine.ended(2, answer, at: Sample.at(0.1))
    #expect(Self.words(&machine).last == "2 answered by two")
  }

  @Test func `a server that has failed has its time where the other has no request left in time`() {
    var machine = Self.limitedBesideFailed()
    let short = LookupDeadlines(timeout: .seconds(1), from: Sample.at(0), hasSystem: false)
    for number: QueryMachine.QuestionNumber in [1, 2] {
      machine.ask(number, .one(Self.question), short, at: Sample.at(0))
    }
    #expect(Self.words(&machine) == ["1 to 0", "2 to 1"])
    machine.timePassed(at: Sample.at(0.5))
    #expect(Self.words(&machine) == [])
    #expect(machine.nextInstant() == Sample.at(0.6), "the queries' time")
  }

  @Test func `a request rate that stays leaves everybody's turn alone`() {
    let configuration = Self.configuration(["one"], rate: RateLimit(perSecond: 1, burst: 1))
    var machine = Self.machine(configuration)
    for number: QueryMachine.QuestionNumber in [1, 2] {
      machine.ask(number, .one(Self.question), Self.deadlines, at: Sample.at(0))
    }
    machine.update(configuration, at: Sample.at(0.5))
    machine.renewTurns(at: Sample.at(0.5))
    #expect(Self.words(&machine) == ["1 to 0", "waits", "one closed"])
    #expect(machine.nextInstant() == Sample.at(1))
  }

  @Test func `whoever waits for the end of a pause of a server that is removed waits no more`() {
    var machine = Self.machine(Self.configuration(["one"]))
    let refusal = ProviderFailure(.rateLimited(retryAfter: .seconds(2)), "429")
    machine.ask(1, .one(Self.question), Self.deadlines, at: Sample.at(0))
    machine.ended(
      1, QueryMachine.Reply(refusal, nil, asked: Sample.at(0), to: .one(Self.question)), at: Sample.at(0))
    #expect(Self.words(&machine) == ["1 to 0", "ended", "waits"])
    machine.update(Self.configuration(["two"]), at: Sample.at(0.5))
    machine.renewTurns(at: Sample.at(0.5))
    #expect(Self.words(&machine) == ["one removed", "two closed", "1 failed: [\"one\"]"])
    #expect(machine.nextInstant() == nil)
  }

  @Test func `at the end all questions end, of whatever kind, and none begins any more`() {
    var machine = Self.machine(Self.configuration(["one"], isBatching: true))
    for _ in 0..<2 {
      machine.ask(1, .one(Self.question), Self.deadlines, at: Sample.at(0))
      machine.ask(2, .records(Self.records), Self.deadlines, at: Sample.at(0))
      machine.askTogether(3, [Self.question], Self.deadlines, at: Sample.at(0))
      let words = Self.words(&machine)
      guard !machine.isShutDown else {
        #expect(words == ["1 cancelled: []", "records 2 cancelled", "batch 3: 0"])
        continue
      }
      machine.shutdown()
      #expect(
        Self.words(&machine) == [
          "cancel 1", "cancel 2", "cancel 3", "1 cancelled: []", "records 2 cancelled", "batch 3: 0",
        ])
    }
    #expect(machine.nextInstant() == nil && machine.pending.isEmpty)
  }
}
