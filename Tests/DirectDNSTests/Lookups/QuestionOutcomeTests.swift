// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct QueryLabelTests {
  @Test(arguments: [
    (Answer.addresses("192.0.2.1", ttl: 60), "answered"), (.negative(.nameNotFound, ttl: 30), "nameNotFound"),
    (.negative(.noAddress, ttl: nil), "noAddress"),
  ])
  func `an answer is called by what it is`(_ answer: Answer, _ label: String) {
    #expect(QueryLabel(.success(answer)).text == label)
  }

  private struct Case: Sendable {
    var kind: ProviderFailure.Kind
    var error: HTTPTransportError?
    var status: HTTPResponse.Status?
    var label: String
  }

  @Test(arguments: [
    Case(kind: .response, status: .ok, label: "refused"),
    Case(kind: .rateLimited(retryAfter: nil), status: .tooManyRequests, label: "rateLimited"),
    Case(kind: .cancelled, error: .cancelled, label: "cancelled"),
    Case(kind: .cancelled, error: .timedOut, label: "timedOut"),
    Case(kind: .transport, error: .timedOut, label: "timedOut"),
    Case(kind: .transport, error: .connect("a reason"), label: "connectFailed"),
    Case(kind: .transport, error: .tls("a reason"), label: "tlsFailed"),
    Case(kind: .transport, error: .connectionLost("a reason"), label: "connectionLost"),
    Case(kind: .transport, error: .malformedResponse("a reason"), label: "malformed"),
    Case(kind: .response, error: .bodyTooLarge, label: "bodyTooLarge"),
    Case(kind: .transport, error: .fieldsTooLarge, label: "fieldsTooLarge"),
    Case(kind: .transport, error: .invalidRequest("a reason"), label: "failed"),
    Case(kind: .local, error: .tlsSetup("a reason"), label: "tlsFailed"),
    Case(kind: .local, label: "failed"),
    Case(kind: .transport, status: .ok, label: "malformed"),
    Case(kind: .transport, status: .badGateway, label: "httpStatus"),
    Case(kind: .transport, label: "failed"),
  ])
  private func `a failure is called by one of a few words, whatever its reason says`(_ it: Case) {
    let failure = ProviderFailure(it.kind, "a reason")
    #expect(QueryLabel(.failure(failure), error: it.error, status: it.status).text == it.label)
  }
}
