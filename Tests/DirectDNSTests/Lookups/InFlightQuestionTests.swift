// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct InFlightQuestionTests {
  private static let host = Sample.name("a.test")

  private static func question(_ family: IPAddress.Family = .ipv4) -> InFlightQuestion {
    InFlightQuestion(
      key: key(family), deadlines: LookupDeadlines(timeout: .seconds(5), from: Sample.at(0)), asked: Sample.at(0),
      generation: 0)
  }

  private static func key(_ family: IPAddress.Family = .ipv4) -> InFlightQuestion.Key {
    .init(question: AddressQuestion(host, family), server: .providers)
  }

  @Test func `who waits already does not wait twice, and all others do in their order`() {
    var question = Self.question()
    let kept = InFlightQuestion.Waiter.keepAlive(Self.host)
    for waiter in [.lookup(7), kept, .lookup(7), .lookup(9), kept, .lookup(7), .lookup(8)] { question.add(waiter) }
    #expect(question.waiters == [.lookup(7), kept, .lookup(9), .lookup(8)])
  }

  @Test func `one is found by what it asks until it has ended`() {
    var questions = InFlightQuestions()
    questions.add(Self.question(), under: 4)
    #expect(questions.number(of: Self.key()) == 4 && questions.number(of: Self.key(.ipv6)) == nil)
    #expect(questions.remove(4)?.key == Self.key())
    #expect(questions.number(of: Self.key()) == nil && questions.remove(4) == nil && questions.isEmpty)
  }

  @Test func `all that ask the same are invalidated, those of former configurations, too`() {
    var questions = InFlightQuestions()
    for number in 4..<7 {
      questions.add(Self.question(), under: Number(rawValue: number))
      questions.add(Self.question(.ipv6), under: Number(rawValue: number + 10))
      if number < 6 { questions.beginAnew() }
    }
    _ = questions.remove(4)
    questions.invalidate(Self.key())
    #expect([5, 6].allSatisfy { questions[$0]?.isInvalidated == true })
    #expect([14, 15, 16].allSatisfy { questions[$0]?.isInvalidated == false })
    #expect(questions.number(of: Self.key()) == nil && questions.number(of: Self.key(.ipv6)) == 16)
  }

  @Test func `nobody waits for one whose name is looked up elsewhere`() {
    var question = Self.question()
    for waiter in [InFlightQuestion.Waiter.lookup(1), .keepAlive(Self.host)] { question.add(waiter) }
    question.abandon()
    #expect(question.waiters.isEmpty && question.isInvalidated)
  }

  @Test func `one that was invalidated goes on without new callers, and its end takes nothing from the next`() {
    var questions = InFlightQuestions()
    questions.add(Self.question(), under: 4)
    questions[4]?.add(.lookup(1))
    questions[4]?.add(.keepAlive(Self.host))
    questions.invalidate(Self.key())
    questions.invalidate(Self.key(.ipv6))
    #expect(questions.number(of: Self.key()) == nil && questions.count == 1)
    #expect(questions[4]?.isInvalidated == true && questions[4]?.waiters == [.lookup(1)])
    questions.add(Self.question(), under: 5)
    _ = questions.remove(4)
    #expect(questions.number(of: Self.key()) == 5 && questions[5]?.isInvalidated == false)
  }
}
