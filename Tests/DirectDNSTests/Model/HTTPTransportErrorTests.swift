// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct HTTPTransportErrorTests {
  @Test func `an error's code has no dynamic part`() {
    let errors: [HTTPTransportError] = [
      .connect("a"), .noSocket("b"), .refusedByProxy(407), .tls("c"), .timedOut, .bodyTooLarge, .fieldsTooLarge,
      .connectionLost("d"),
      .invalidRequest("e"), .cancelled, .shutDown,
    ]
    #expect(
      errors.map(\.code.description) == [
        "connectFailed", "connectFailed", "connectFailed", "tlsFailed", "timedOut", "bodyTooLarge", "fieldsTooLarge",
        "connectionLost",
        "invalidRequest", "cancelled", "shutDown",
      ])
  }
}
