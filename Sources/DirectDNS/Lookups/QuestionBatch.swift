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

/// What a reply to several questions says about them and about its server: a pure function.
enum BatchReading: Sendable {
  case answers([AddressQuestion: Result<Answer, ProviderFailure>])
  /// The server works and answers none of them: one name may have spoilt it for all.
  case answersNone(ProviderFailure)
  /// The server does not know such queries.
  case refused(ProviderFailure)
  /// There is no use in asking this server for each of them.
  case serverFailed(ProviderFailure)

  /// Judges a failure by the reply that it came with, if any.
  init(_ failure: ProviderFailure, status: Int?) {
    self =
      switch (failure.kind, status) {
      case (.response, _): .answersNone(failure)
      // 429: the server stands back by itself until it may be asked again.
      case (.rateLimited, _): .answersNone(failure)
      // Whoever gets no answer from it but this may not be talking to it: a reply that cannot be read is a failure.
      case (.transport, let status?) where (200..<300).contains(status): .refused(failure)
      case (.transport, let status?) where Self.saysNo(status): .refused(ProviderFailure(.response, failure.reason))
      case (.transport, _), (.local, _), (.cancelled, _): .serverFailed(failure)
      }
  }

  /// Whether a reply that is none to several names is the server's word that it takes one at a time.
  private static func saysNo(_ status: Int) -> Bool {
    [400, 404, 405, 414, 501].contains(status)
  }

  var isRefusal: Bool { if case .refused = self { true } else { false } }

  /// What it says about the server's health; a refusal by status is a reply.
  func health(of questions: [AddressQuestion]) -> Result<Answer, ProviderFailure> {
    switch self {
    case .answers(let answers):
      questions.lazy.compactMap { answers[$0] }.first { if case .success = $0 { true } else { false } }
        ?? .failure(ProviderFailure(.response, "answered none of the names"))
    case .answersNone(let failure), .serverFailed(let failure), .refused(let failure): .failure(failure)
    }
  }

  /// What it says about each question.
  func results(of questions: [AddressQuestion]) -> [AddressQuestion: Result<Answer, ProviderFailure>] {
    switch self {
    case .answers(let answers): answers
    case .answersNone(let failure), .refused(let failure), .serverFailed(let failure):
      Dictionary(questions.map { ($0, .failure(failure)) }) { first, _ in first }
    }
  }
}
