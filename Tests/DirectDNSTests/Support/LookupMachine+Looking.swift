// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// What tests look at of what the machine knows.
extension LookupMachine {
  var cache: AnswerCache { state.cache }
  var settings: ResolverSettings { state.settings }
  var keptAlive: KeepAliveMachine { state.keptAlive }
  var lookups: WaitingLookups { state.lookups }
  var questions: InFlightQuestions { state.questions }
  var batches: [Number<QuestionBatch>: QuestionBatch] { state.batches }
  var servers: QueryMachine.State { state.servers.state }

  /// How many callers wait.
  var lookupCount: Int { lookups.count }

  /// How many questions are being asked.
  var questionCount: Int { questions.count }

  /// Whether a question waits for another member of the fleet.
  var waitsForLease: Bool {
    questions.all.contains { $0.value.turn?.isWaiting == true }
  }

  func find(_ request: LookupRequest, at now: ResolverInstant) -> AnswerCache.Found? { state.find(request, at: now) }
}
