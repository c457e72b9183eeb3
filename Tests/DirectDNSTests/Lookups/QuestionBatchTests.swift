// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct QuestionBatchTests {
  private static func question(_ number: Int) -> AddressQuestion {
    AddressQuestion(Sample.name("n\(number).example"), .ipv4)
  }

  private func batch(expecting count: Int) -> QuestionBatch {
    var batch = QuestionBatch(LookupDeadlines(timeout: .seconds(5), from: Sample.at(0)))
    for _ in 0..<count { batch.expect() }
    return batch
  }

  @Test func `it goes out when the last one has come, and no earlier than nobody else is expected`() {
    var batch = batch(expecting: 3)
    for number in 0..<3 { batch.join(number, Self.question(number)) }
    #expect(!batch.isComplete)
    batch.close()
    #expect(batch.isComplete && batch.questions == (0..<3).map(Self.question))
  }

  @Test func `who leaves is not waited for, and not asked for`() {
    var batch = batch(expecting: 3)
    batch.close()
    batch.join(7, Self.question(7))
    batch.leave()
    #expect(!batch.isComplete)
    batch.leave()
    #expect(batch.isComplete && batch.members.map(\.number) == [7])
  }

  @Test func `where all have left there is nothing to ask`() {
    var batch = batch(expecting: 1)
    batch.close()
    batch.leave()
    #expect(batch.isComplete && batch.questions.isEmpty)
  }

  @Test func `it is sent once`() {
    var batch = batch(expecting: 1)
    batch.join(1, Self.question(1))
    batch.close()
    batch.isSent = true
    #expect(!batch.isComplete)
  }
}
