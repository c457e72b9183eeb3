import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct QuestionBatchTests {
  private static func question(_ number: Int) -> AddressQuestion {
    AddressQuestion(Sample.name("n\(number).example"), .ipv4)
  }

  private static func answered(_ question: AddressQuestion) -> Upstreams.BatchOutcome {
    .answered(Upstreams.Answered(answer: .addresses("192.0.2.1"), endpoint: 0, provider: "one", asked: Sample.at(0)))
  }

  private static func isAnswered(_ outcome: Upstreams.BatchOutcome) -> Bool {
    if case .answered = outcome { true } else { false }
  }

  @Test func `one query asks for all, when the last one has come`() async {
    let asked = Watched<[[AddressQuestion]]>([])
    let batch = QuestionBatch { questions in
      asked.change { $0.append(questions) }
      return Dictionary(uniqueKeysWithValues: questions.map { ($0, Self.answered($0)) })
    }
    let waiting = (0..<3).map { number in
      batch.expect()
      return Task.immediate { await batch.outcome(of: Self.question(number)) }
    }
    #expect(asked.value.isEmpty)
    batch.close()
    for task in waiting { #expect(Self.isAnswered(await task.value)) }
    #expect(asked.value == [(0..<3).map(Self.question)])
  }

  @Test func `who leaves is not waited for, and not asked for`() async {
    let asked = Watched<[[AddressQuestion]]>([])
    let batch = QuestionBatch { questions in
      asked.change { $0.append(questions) }
      return [:]
    }
    for _ in 0..<3 { batch.expect() }
    batch.close()
    let waiting = Task.immediate { await batch.outcome(of: Self.question(7)) }
    batch.leave()
    #expect(asked.value.isEmpty)
    batch.leave()
    // What the query says nothing of is asked for by itself.
    guard case .alone(nil) = await waiting.value else {
      Issue.record("an answer")
      return
    }
    #expect(asked.value == [[Self.question(7)]])
  }

  @Test func `where all have left nobody is asked`() {
    let asked = Watched(0)
    let batch = QuestionBatch { _ in
      asked.change { $0 += 1 }
      return [:]
    }
    batch.expect()
    batch.close()
    batch.leave()
    #expect(asked.value == 0)
  }
}
