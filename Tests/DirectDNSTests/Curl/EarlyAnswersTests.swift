// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct EarlyAnswersTests {
  @Test func `what sends nothing for 100 ms behind its answer is stuck`() {
    var answers = EarlyAnswers<Int>()
    #expect(answers.due == .max && answers.takeStuck(at: .max) { _ in 0 } == [])
    answers.note(1, sent: 70, at: 1_000)
    answers.note(1, sent: 90, at: 1_050)
    #expect(answers.due == 1_100)
    #expect(answers.takeStuck(at: 1_099) { _ in 70 } == [])
    #expect(answers.takeStuck(at: 1_100) { _ in 70 } == [1])
    #expect(answers.due == .max)
  }

  @Test func `what goes on sending goes on`() {
    var answers = EarlyAnswers<Int>()
    answers.note(1, sent: 70, at: 0)
    for round in 1...5 as ClosedRange<Int64> {
      #expect(answers.takeStuck(at: round * 100) { _ in 70 + round } == [])
      #expect(answers.due == round * 100 + 100)
    }
    #expect(answers.takeStuck(at: 600) { _ in 75 } == [1])
  }

  @Test func `what waits for its source or for the server has its time anew`() {
    var answers = EarlyAnswers<Int>()
    answers.note(1, sent: 70, at: 0)
    #expect(answers.takeStuck(at: 100, sent: { _ in 70 }, waits: { _ in true }) == [])
    #expect(answers.due == 200)
    #expect(answers.takeStuck(at: 199, sent: { _ in 70 }) == [])
    #expect(answers.takeStuck(at: 200, sent: { _ in 70 }) == [1])
  }

  @Test func `what is over is forgotten, and each has its own time`() {
    var answers = EarlyAnswers<Int>()
    answers.note(1, sent: 0, at: 0)
    answers.note(2, sent: 0, at: 40)
    #expect(answers.takeStuck(at: 100) { $0 == 1 ? nil : 0 } == [])
    #expect(answers.due == 140)
    #expect(answers.takeStuck(at: 140) { _ in 0 } == [2])
  }
}
