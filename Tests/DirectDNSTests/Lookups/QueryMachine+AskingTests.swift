// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// How a question goes on from server to server, and waits for those that say 429, in moved time.
struct QueryMachineAskingTests {
  private var machine: QueryMachine
  private var count = 0

  init() { machine = Self.machine("one") }

  private static func machine(_ providers: String...) -> QueryMachine {
    var configuration = ResolverFixture.configuration(providers)
    configuration.hedges = false
    var machine = QueryMachine(configuration, at: Sample.at(0))
    _ = machine.takeActions()
    return machine
  }

  private mutating func ask(at seconds: Double, timeout: Duration = .seconds(5)) {
    count += 1
    let deadlines = LookupDeadlines(timeout: timeout, from: Sample.at(seconds), hasSystem: false)
    machine.ask(
      Number(rawValue: count), .one(AddressQuestion(Sample.name("n\(count).example"), .ipv4)), deadlines,
      at: Sample.at(seconds))
  }

  private mutating func reply(_ query: QueryMachine.QueryNumber, _ kind: ProviderFailure.Kind?, at seconds: Double) {
    let answer: Result<Answer, ProviderFailure> =
      kind.map { .failure(ProviderFailure($0, "\($0)")) } ?? .success(.addresses("192.0.2.1"))
    machine.ended(
      query, .init(asked: Sample.at(seconds), reading: .one(answer), status: 200), at: Sample.at(seconds))
  }

  /// Moves time on, and tells what is sent and then what ends by then.
  private mutating func words(at seconds: Double) -> [String] {
    machine.timePassed(at: Sample.at(seconds))
    var words: [String] = []
    for case .send(let query, let server, let subject, _) in machine.takeActions() {
      words.append("\(query) to \(server.number): \(subject.host.map(\.text)?.prefix(2) ?? "")")
    }
    for case .one(let number, let result) in machine.takeEndings() {
      switch result {
      case .success: words.append("n\(number) answered")
      case .failure(let failed): words.append("n\(number) failed: \(failed.attempts.count)")
      }
    }
    return words
  }

  /// The queries that are to be sent.
  private mutating func queries() -> [QueryMachine.QueryNumber] {
    machine.takeActions().compactMap { if case .send(let query, _, _, _) = $0 { query } else { nil } }
  }

  private static let pause = ProviderFailure.Kind.rateLimited(retryAfter: .seconds(2))

  @Test mutating func `while one server after the other is silent, the last one is asked in time, too`() {
    machine = Self.machine("one", "two", "three", "four")
    ask(at: 0)
    #expect(words(at: 0) == ["1 to 0: n1"])
    #expect(words(at: 2.999) == [])
    #expect(words(at: 3) == ["2 to 1: n1"])
    // 1.9 s are left for three, and then two thirds of that for two.
    #expect(words(at: 3.633) == [])
    #expect(words(at: 3.634) == ["3 to 2: n1"])
    #expect(words(at: 4.266) == [])
    #expect(words(at: 4.267) == ["4 to 3: n1"])
    reply(3, nil, at: 4.5)
    #expect(words(at: 4.5) == ["n1 answered"], "it was not given up")
  }

  @Test mutating func `a question has a time for its next server, or for the end of a pause, or for nothing any more`()
  {
    machine = Self.machine("one", "two")
    ask(at: 0)
    #expect(words(at: 0) == ["1 to 0: n1"])
    #expect(machine.nextInstant() == Sample.at(3), "the first one has its time")
    reply(1, Self.pause, at: 1)
    #expect(words(at: 1) == ["2 to 1: n1"])
    #expect(machine.nextInstant() == Sample.at(3), "the second one goes on, and the first may be asked once more")
    #expect(words(at: 3) == ["3 to 0: n1"])
    #expect(machine.nextInstant() == nil, "nobody is left")
  }

  @Test mutating func `a pause that ends too late is no time to wait for`() {
    machine = Self.machine("one", "two")
    ask(at: 0, timeout: .seconds(3))
    reply(1, Self.pause, at: 1.5)
    #expect(words(at: 1.5) == ["1 to 0: n1", "2 to 1: n1"])
    #expect(machine.nextInstant() == nil)
  }

  @Test mutating func `after a pause one query finds out whether it is over, and with each reply more go on`() {
    ask(at: 0)
    #expect(words(at: 0) == ["1 to 0: n1"])
    reply(1, Self.pause, at: 0)
    for _ in 0..<3 { ask(at: 0.5) }
    #expect(words(at: 1.999) == [])
    #expect(words(at: 2) == ["2 to 0: n1"])
    ask(at: 2.1)
    #expect(words(at: 2.1) == [])
    reply(2, nil, at: 2.2)
    #expect(Set(words(at: 2.2)) == ["n1 answered", "3 to 0: n2", "4 to 0: n3"])
    reply(3, nil, at: 2.3)
    #expect(Set(words(at: 2.3)) == ["n2 answered", "5 to 0: n4", "6 to 0: n5"])
    for _ in 0..<2 { ask(at: 2.4) }
    #expect(words(at: 2.4) == [])
    reply(4, nil, at: 2.5)
    #expect(Set(words(at: 2.5)) == ["n3 answered", "7 to 0: n6", "8 to 0: n7"])
  }

  @Test mutating func `where a server takes five at a time, few of those who wait are turned away`() {
    for _ in 0..<40 { ask(at: 0, timeout: .seconds(60)) }
    var (answered, refused) = (0, 0)
    for second in 0..<60 {
      // All that is sent is answered at once, and what that lets go on as well.
      var room = 5
      machine.timePassed(at: Sample.at(Double(second)))
      var wanted = queries()
      while !wanted.isEmpty {
        for query in wanted {
          reply(query, room > 0 ? nil : Self.pause, at: Double(second))
          if room > 0 { (room, answered) = (room - 1, answered + 1) } else { refused += 1 }
        }
        wanted = queries()
      }
    }
    // 35 at the beginning, and then six at most after each pause, for the second time: one more than it takes.
    #expect(answered >= 20 && answered + refused == 40 + 35, "\(answered) answered, \(refused) refused")
  }

  @Test mutating func `if it is not over the others wait for the next end, or fail if that is too late`() {
    ask(at: 0)
    reply(1, Self.pause, at: 0)
    ask(at: 1.5)
    ask(at: 1.5, timeout: .seconds(2))
    #expect(words(at: 2) == ["1 to 0: n1", "2 to 0: n1"])
    reply(2, Self.pause, at: 2.1)
    // The first one has been turned away twice, and the third has time until 3.46 s.
    #expect(Set(words(at: 2.1)) == ["n1 failed: 2", "n3 failed: 1"])
    #expect(words(at: 4.1) == ["3 to 0: n2"])
    reply(3, nil, at: 4.2)
    #expect(words(at: 4.2) == ["n2 answered"])
  }

  @Test mutating func `what that query finds out is waited for for a second, and then another one is sent`() {
    ask(at: 0)
    reply(1, Self.pause, at: 0)
    for _ in 0..<2 { ask(at: 1) }
    #expect(words(at: 2) == ["1 to 0: n1", "2 to 0: n1"])
    #expect(words(at: 2.999) == [])
    #expect(words(at: 3) == ["3 to 0: n2"])
    reply(2, .transport, at: 3.5)
    #expect(Set(words(at: 3.5)) == ["n1 failed: 2", "4 to 0: n3"])
  }

  @Test mutating func `who has less time left than that waits all the same`() {
    ask(at: 0)
    reply(1, Self.pause, at: 0)
    ask(at: 1.9, timeout: .milliseconds(600))
    #expect(words(at: 2) == ["1 to 0: n1", "2 to 0: n1"])
    reply(2, nil, at: 2.3)
    #expect(Set(words(at: 2.3)) == ["n1 answered", "3 to 0: n2"])
    ask(at: 2.4)
    reply(4, Self.pause, at: 2.5)
    ask(at: 4.4, timeout: .milliseconds(400))
    #expect(words(at: 4.5) == ["4 to 0: n3", "5 to 0: n3"])
    #expect(words(at: 4.792) == ["n4 failed: 0"])
  }

  @Test mutating func `one that is turned away waits for the end of the pause only if nobody else can be asked`() {
    machine = Self.machine("one", "two")
    ask(at: 0)
    reply(1, Self.pause, at: 0)
    #expect(words(at: 0) == ["1 to 0: n1", "2 to 1: n1"])
    reply(2, .response, at: 0.1)
    #expect(words(at: 1.999) == [])
    #expect(words(at: 2) == ["3 to 0: n1"])
    reply(3, nil, at: 2.1)
    #expect(words(at: 2.1) == ["n1 answered"])
  }

  @Test mutating func `it is asked once more beside those that are silent, when all have been asked`() {
    machine = Self.machine("one", "two")
    ask(at: 0)
    reply(1, Self.pause, at: 0)
    #expect(words(at: 0) == ["1 to 0: n1", "2 to 1: n1"])
    #expect(words(at: 1.999) == [])
    #expect(words(at: 2) == ["3 to 0: n1"])
    #expect(words(at: 2.5) == [])
    reply(3, nil, at: 2.5)
    #expect(words(at: 2.5) == ["n1 answered"])
  }

  @Test mutating func `once more is once, and whoever is silent goes on`() {
    machine = Self.machine("one", "two")
    ask(at: 0, timeout: .seconds(20))
    reply(1, Self.pause, at: 0)
    #expect(words(at: 0) == ["1 to 0: n1", "2 to 1: n1"])
    #expect(words(at: 2) == ["3 to 0: n1"])
    reply(3, Self.pause, at: 2.1)
    #expect(words(at: 9) == [])
    reply(2, .transport, at: 9)
    #expect(words(at: 9) == ["n1 failed: 3"])
  }

  @Test mutating func `another one that may be asked comes first, in place of the one that is silent`() {
    machine = Self.machine("one", "two", "three")
    ask(at: 0, timeout: .seconds(20))
    reply(1, Self.pause, at: 0)
    #expect(words(at: 0) == ["1 to 0: n1", "2 to 1: n1"])
    // The second has its time, and then the third is asked; the pause is over by then.
    #expect(words(at: 2.5) == [])
    #expect(words(at: 12) == ["3 to 2: n1", "4 to 0: n1"])
  }

  @Test mutating func `what the first query after a pause finds out is for all who wait beside a silent one`() {
    machine = Self.machine("one", "two")
    for _ in 0..<3 { ask(at: 0) }
    for query in 1...3 { reply(Number(rawValue: query), Self.pause, at: 0) }
    #expect(Set(words(at: 0).suffix(3)) == ["4 to 1: n1", "5 to 1: n2", "6 to 1: n3"])
    #expect(words(at: 2) == ["7 to 0: n1"])
    #expect(words(at: 2.1) == [])
    reply(7, nil, at: 2.2)
    #expect(Set(words(at: 2.2)) == ["n1 answered", "8 to 0: n2", "9 to 0: n3"])
    reply(8, Self.pause, at: 2.3)
    reply(9, Self.pause, at: 2.3)
    #expect(words(at: 3.4) == [], "their second chance is over")
  }

  @Test mutating func `a pause that ends too late brings no second query`() {
    machine = Self.machine("one", "two")
    ask(at: 0)
    reply(1, .rateLimited(retryAfter: .seconds(60)), at: 0)
    #expect(words(at: 0) == ["1 to 0: n1", "2 to 1: n1"])
    #expect(words(at: 4.89) == [])
    reply(2, .transport, at: 4.9)
    #expect(words(at: 4.9) == ["n1 failed: 2"])
  }

  @Test mutating func `a server that says 429 is told as one that limits its rate`() throws {
    ask(at: 0)
    reply(1, .rateLimited(retryAfter: .seconds(60)), at: 0)
    let failed = machine.takeEndings().compactMap { ending -> [DirectDNSError.Attempt]? in
      if case .one(_, .failure(let failed)) = ending { failed.attempts } else { nil }
    }
    #expect(try LookupMachine.advice(#require(failed.first)) == "Ask less often, or name other providers.")
  }

  @Test mutating func `a pause beyond its time fails it at once, with one reason for each server`() {
    ask(at: 0)
    reply(1, .rateLimited(retryAfter: .seconds(60)), at: 0)
    #expect(words(at: 0) == ["1 to 0: n1", "n1 failed: 1"])
  }
}
