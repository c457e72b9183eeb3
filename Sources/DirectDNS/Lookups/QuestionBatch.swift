// SPDX-License-Identifier: Apache-2.0
/// Questions that wait for each other, to be asked in one query: a value.
///
/// Each that is expected joins, or leaves because it needs no asking; with the last of them the query goes out.
struct QuestionBatch: Sendable {
  let deadlines: LookupDeadlines
  /// The questions, by the numbers under which they are asked.
  private(set) var members: [(number: Int, question: AddressQuestion)] = []
  var isSent = false
  private var expected = 0
  private var isClosed = false

  init(_ deadlines: LookupDeadlines) { self.deadlines = deadlines }

  /// Whether it is to be sent: nobody else will come, and nobody has sent it yet.
  var isComplete: Bool { isClosed && !isSent && members.count == expected }

  var questions: [AddressQuestion] { members.map(\.question) }

  /// One more question will join or leave.
  mutating func expect() { expected += 1 }

  /// A question that was expected needs no asking.
  mutating func leave() { expected -= 1 }

  /// No more questions will be expected.
  mutating func close() { isClosed = true }

  mutating func join(_ number: Int, _ question: AddressQuestion) { members.append((number, question)) }
}
