// SPDX-License-Identifier: Apache-2.0
/// Questions that wait for each other in order to go out in one query: a value.
///
/// Each expected question joins, or leaves because it need not be asked. The query is sent when the last has done so.
struct QuestionBatch: Sendable {
  let deadlines: LookupDeadlines
  /// The questions that have joined, and their numbers.
  private(set) var members: [(number: Number<InFlightQuestion>, question: AddressQuestion)] = []
  var isSent = false
  private var expected = 0
  private var isClosed = false

  init(_ deadlines: LookupDeadlines) { self.deadlines = deadlines }

  /// Whether it is to be sent now: no other question will join, and it has not been sent yet.
  var isComplete: Bool { isClosed && !isSent && members.count == expected }

  var questions: [AddressQuestion] { members.map(\.question) }

  /// One more question will join or leave.
  mutating func expect() { expected += 1 }

  /// An expected question need not be asked, whether it has joined or not.
  mutating func leave(_ number: Number<InFlightQuestion>) {
    guard !isSent else { return }
    members.removeAll { $0.number == number }
    expected -= 1
  }

  /// No more questions will be expected.
  mutating func close() { isClosed = true }

  mutating func join(_ number: Number<InFlightQuestion>, _ question: AddressQuestion) {
    members.append((number, question))
  }
}

/// What the reply to a batch says about its questions and about the server: a pure function.
enum BatchReading: Sendable {
  case answers([AddressQuestion: Result<Answer, ProviderFailure>])
  /// The server works but answered none of them, perhaps because of one name among them.
  case answersNone(ProviderFailure)
  /// The server does not understand queries for several names.
  case refused(ProviderFailure)
  /// The server failed, and would fail each single question too.
  case serverFailed(ProviderFailure)

  /// Judges a failure by the reply that it came with, if any.
  ///
  /// - Parameters:
  ///   - failure: why the reply is not an answer.
  ///   - status: the reply's status; nil if there was none.
  ///   - isRefusal: whether the reply says that the server takes fewer names at once.
  init(_ failure: ProviderFailure, status: Int?, isRefusal: Bool = false) {
    self =
      switch (failure.kind, status) {
      case (.response, _) where isRefusal: .refused(failure)
      case (.response, _): .answersNone(failure)
      // 429: until the server's pause is over, it is not asked anyway.
      case (.rateLimited, _): .answersNone(failure)
      // It counts as a failure of the server all the same: a reply that cannot be read may come from somebody else.
      case (.transport, let status?) where (200..<300).contains(status): .refused(failure)
      case (.transport, let status?) where Self.isRefusal(status): .refused(ProviderFailure(.response, failure.reason))
      case (.transport, _), (.local, _), (.cancelled, _): .serverFailed(failure)
      }
  }

  /// Whether that status says that the server takes only one name at a time.
  private static func isRefusal(_ status: Int) -> Bool {
    [400, 404, 405, 414, 501].contains(status)
  }

  var isRefusal: Bool { if case .refused = self { true } else { false } }

  /// What it says about the server's health; a refusal by status counts as a reply.
  func health(of questions: [AddressQuestion]) -> Result<Answer, ProviderFailure> {
    switch self {
    case .answers(let answers):
      questions.lazy.compactMap { answers[$0] }.first { if case .success = $0 { true } else { false } }
        ?? .failure(ProviderFailure(.response, "answered none of the names"))
    case .answersNone(let failure), .serverFailed(let failure), .refused(let failure): .failure(failure)
    }
  }

  /// The result for each question.
  func results(of questions: [AddressQuestion]) -> [AddressQuestion: Result<Answer, ProviderFailure>] {
    switch self {
    case .answers(let answers): answers
    case .answersNone(let failure), .refused(let failure), .serverFailed(let failure):
      Dictionary(questions.map { ($0, .failure(failure)) }) { first, _ in first }
    }
  }
}
