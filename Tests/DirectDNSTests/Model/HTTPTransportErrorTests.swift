// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct HTTPTransportErrorTests {
  @Test func `an error's code has no dynamic part`() {
    let errors: [HTTPTransportError] = [
      .connect("a"), .noSocket("b"), .refusedByProxy(status: 407), .tls("c"), .timedOut, .bodyTooLarge, .fieldsTooLarge,
      .connectionLost("d"), .malformedResponse("g"),
      .invalidRequest("e"), .tlsSetup("f"), .cancelled, .shutDown,
    ]
    #expect(
      errors.map(\.code.description) == [
        "connectFailed", "connectFailed", "connectFailed", "tlsFailed", "timedOut", "bodyTooLarge", "fieldsTooLarge",
        "connectionLost", "malformedResponse",
        "invalidRequest", "tlsFailed", "cancelled", "shutDown",
      ])
  }

  @Test(arguments: [
    (HTTPTransportError.connect("x"), "no connection: x"), (.noSocket("x"), "no connection: x"),
    (.refusedByProxy(status: 407), "no connection: the proxy answered 407"), (.tls("x"), "TLS: x"),
    (.tlsSetup("x"), "TLS could not be set up on this machine: x"),
    (.timedOut, "timed out"),
    (.fieldsTooLarge, "header fields and trailers are more than what is read"),
    (.bodyTooLarge, "the body is larger than what is read"), (.connectionLost("x"), "connection lost: x"),
    (.malformedResponse("x"), "malformed response: x"),
    (.invalidRequest("x"), "the request cannot be sent: x"), (.cancelled, "cancelled"),
    (.shutDown, "shut down"),
  ])
  func `an error says what happened`(_ error: HTTPTransportError, _ text: String) {
    #expect(error.description == text)
  }

  @Test func `what this machine could not do says nothing of the address`() {
    #expect(HTTPTransportError.noSocket("x").isLocal && HTTPTransportError.tlsSetup("x").isLocal)
    #expect(!HTTPTransportError.tls("x").isLocal && !HTTPTransportError.connect("x").isLocal)
    #expect(!HTTPTransportError.tlsSetup("x").mayBeTheAddress)
    #expect(!HTTPTransportError.malformedResponse("x").mayBeTheAddress)
    #expect(!HTTPTransportError.malformedResponse("x").isLocal)
  }
}
