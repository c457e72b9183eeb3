// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// How queries end, and what of it becomes the end of their question.
struct QueryMachineOutcomesTests {
  private static let question = AddressQuestion(ResolverFixture.host, .ipv4)
  private static let records = DNSQuestion(name: DNSName(ResolverFixture.host), type: .mx)
  private static let server = DNSServer(0, ResolverFixture.configuration(["one"]).providers[0])

  private static func failure(
    _ cause: QueryMachine.ServerFailure.Cause, of name: String = "one"
  ) -> QueryMachine.ServerFailure {
    .init(server: 0, attempt: .init(server: name, reason: "\(cause)"), cause: cause)
  }

  // MARK: Those who are left to ask

  @Test func `each server is taken once, and once more after it has said 429`() {
    var candidates = QueryMachine.Candidates(order: [0, 1])
    #expect(candidates.rest == .unasked && candidates.askable == [0, 1])
    candidates.take(0)
    candidates.pause(0)
    #expect(candidates.rest == .unasked && candidates.askable == [1, 0])
    candidates.take(1)
    #expect(candidates.rest == .paused && candidates.askable == [0])
    candidates.take(0)
    candidates.pause(0)
    #expect(candidates.rest == .nobody && candidates.askable.isEmpty)
  }

  @Test(arguments: [
    ([QueryMachine.ServerFailure.Cause.failed], false, QueryMachine.QuestionFailure.Cause.failed),
    ([.failed], true, .failedLate),
    ([.failed, .timedOut], false, .failedLate), ([.timedOut, .timedOut], false, .timedOut), ([], true, .timedOut),
    ([], false, .failed), ([.cancelled], false, .cancelled), ([.timedOut, .cancelled], true, .cancelled),
  ])
  func `a question failed for want of time alone, among other things, or not at all`(
    _ causes: [QueryMachine.ServerFailure.Cause], _ isLate: Bool, _ expected: QueryMachine.QuestionFailure.Cause
  ) {
    var candidates = QueryMachine.Candidates(order: [])
    for cause in causes { candidates.note(Self.failure(cause)) }
    let failed = candidates.failed(isLate: isLate)
    #expect(failed.cause == expected && failed.attempts.count == causes.count)
    #expect(failed.isLate == [.failedLate, .timedOut].contains(expected))
    // What was cancelled is no failure of the server.
    #expect(failed.servers.count == causes.count { $0 != .cancelled })
  }

  @Test func `a server that has failed is not told again as one that cannot be asked in time`() {
    var candidates = QueryMachine.Candidates(order: [])
    candidates.note(Self.failure(.failed))
    candidates.add([.init(server: "one", reason: "its rate"), .init(server: "two", reason: "its rate")])
    #expect(candidates.failed(isLate: true).attempts.map(\.description) == ["one: failed", "two: its rate"])
  }

  // MARK: Replies

  @Test(arguments: [
    (ProviderFailure.Kind.cancelled, HTTPTransportError?.some(.cancelled), ProviderFailure.Kind.transport, true),
    // Its own address was still being looked up.
    (.cancelled, nil, .cancelled, true),
    (.transport, .connect("refused"), .transport, false), (.response, nil, .response, false),
  ])
  func `a query that was given up counts as timed out, unless it had ended by itself`(
    _ kind: ProviderFailure.Kind, _ error: HTTPTransportError?, _ expected: ProviderFailure.Kind, _ isTimeout: Bool
  ) {
    for subject in [QueryMachine.Subject.one(Self.question), .records(Self.records)] {
      var reply = QueryMachine.Reply(ProviderFailure(kind, "so it goes"), error, asked: Sample.at(0), to: subject)
      reply.countAsTimedOut()
      #expect((reply.sendError == .timedOut) == isTimeout && reply.sendError != .cancelled)
      guard case .failure(let failure) = reply.health(of: subject) else {
        Issue.record("no failure")
        continue
      }
      #expect(failure.kind == expected)
    }
  }

  @Test(arguments: [
    (
      ProviderFailure.Kind.transport, HTTPTransportError?.some(.timedOut), Int?.none,
      QueryMachine.ServerFailure.Cause.timedOut,
      DirectDNSError.Attempt.FailureKind.network
    ),
    (.transport, .tls("expired"), nil, .failed, .certificate(nil)),
    (.transport, .tls("certificate has expired"), nil, .failed, .certificate(.expired)),
    (.transport, nil, 503, .failed, .failing), (.response, nil, 200, .failed, .reply),
    (.rateLimited(retryAfter: nil), nil, 429, .failed, .rate), (.cancelled, .cancelled, nil, .cancelled, .network),
  ])
  func `a failure says why, and where to look for a remedy`(
    _ kind: ProviderFailure.Kind, _ error: HTTPTransportError?, _ status: Int?,
    _ cause: QueryMachine.ServerFailure.Cause,
    _ remedy: DirectDNSError.Attempt.FailureKind
  ) {
    let reply = QueryMachine.Reply(
      asked: Sample.at(0), reading: .one(.failure(ProviderFailure(kind, "so it goes"))), sendError: error,
      status: status)
    let failure = reply.failure(ProviderFailure(kind, "so it goes"), of: Self.server)
    #expect(failure.cause == cause && failure.attempt.kind == remedy)
    #expect(failure.server == 0 && failure.attempt.description == "one: so it goes")
  }

  @Test func `records count for a server's health as addresses do`() {
    let record = DNSRecord(owner: .root, type: .mx, ttl: 1, data: .opaque([]))
    for (answer, expected) in [
      (RecordAnswer(records: [record]), Answer.Content.addresses([])),
      (RecordAnswer(records: []), .negative(.noAddress)),
      (RecordAnswer(records: [], isNameMissing: true), .negative(.nameNotFound)),
    ] {
      let reply = QueryMachine.Reply(asked: Sample.at(0), reading: .records(.success(answer)), status: 200)
      guard case .success(let counted) = reply.health(of: .records(Self.records)) else {
        Issue.record("a failure")
        continue
      }
      #expect(counted.content == expected)
    }
  }

  @Test func `a query has a result for each of its questions`() {
    let answer = Answer.addresses("192.0.2.1")
    let other = Self.question.ofOtherFamily
    let batch = BatchReading.answers([
      Self.question: .success(answer), other: .failure(ProviderFailure(.response, "not this one")),
    ])
    for (reading, subject, expected) in [
      (QueryMachine.Reply.Reading.one(.success(answer)), QueryMachine.Subject.one(Self.question), [Self.question]),
      (.batch(batch), .batch([Self.question, other]), [Self.question, other]),
    ] {
      let reply = QueryMachine.Reply(asked: Sample.at(0), reading: reading, status: 200)
      guard case .addresses(let results) = reply.results(of: subject) else {
        Issue.record("no addresses")
        continue
      }
      #expect(Set(results.map(\.0)) == Set(expected))
      #expect(results.first { $0.0 == Self.question }.map { (try? $0.1.get())?.content } == answer.content)
    }
    let reply = QueryMachine.Reply(asked: Sample.at(0), reading: .records(.success(RecordAnswer(records: []))))
    guard case .records(let question, .success) = reply.results(of: .records(Self.records)) else {
      Issue.record("no records")
      return
    }
    #expect(question == Self.records)
  }
}
