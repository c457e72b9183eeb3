// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS

struct DirectDNSErrorTests {
  @Test func `an error shows its message, and below it everyone who was asked`() {
    let error = DirectDNSError(
      .upstreamFailed, "www.example.net could not be looked up.",
      attempts: [
        .init(server: "alidns", reason: "timed out"), .init(server: "system", reason: "no answer"),
      ])
    #expect(
      error.description == """
        www.example.net could not be looked up.
          alidns: timed out
          system: no answer
        """)
    #expect("\(error)" == error.description)
  }

  @Test func `an error without attempts is its message`() {
    let error = DirectDNSError(.invalidName, "no name")
    #expect(error.description == "no name")
    #expect(error.attempts.isEmpty)
    #expect(error.underlying == nil)
  }

  // Programs have written them down: HouseTests sees that none is lacking.
  @Test(
    arguments: [
      (.invalidName, "invalidName"), (.invalidURL, "invalidURL"), (.invalidRequest, "invalidRequest"),
      (.invalidConfiguration, "invalidConfiguration"), (.nameNotFound, "nameNotFound"), (.noAddress, "noAddress"),
      (.noRecord, "noRecord"), (.upstreamFailed, "upstreamFailed"), (.timedOut, "timedOut"), (.refused, "refused"),
      (.addressForbidden, "addressForbidden"), (.connectFailed, "connectFailed"), (.tlsFailed, "tlsFailed"),
      (.connectionLost, "connectionLost"), (.malformedResponse, "malformedResponse"),
      (.bodyFailed, "bodyFailed"), (.bodyTooLarge, "bodyTooLarge"), (.fieldsTooLarge, "fieldsTooLarge"),
      (.tooManyRedirects, "tooManyRedirects"),
      (.redirectRefused, "redirectRefused"), (.bodyNotReplayable, "bodyNotReplayable"), (.cancelled, "cancelled"),
      (.fileUnusable, "fileUnusable"), (.cannotListen, "cannotListen"), (.storeFailed, "storeFailed"),
      (.warmupMissed, "warmupMissed"),
      (.shutDown, "shutDown"),
    ] as [(DirectDNSError.Code, String)])
  func `codes have stable spellings`(_ code: DirectDNSError.Code, _ spelling: String) {
    #expect(code.description == spelling && code.rawValue == spelling)
    #expect(code == DirectDNSError.Code(rawValue: spelling))
  }

  @Test func `a code is coded as its spelling, and one of another version is read as it is`() throws {
    let text = try JSONEncoder().encode([DirectDNSError.Code.timedOut])
    #expect(String(decoding: text, as: UTF8.self) == #"["timedOut"]"#)
    let read = try JSONDecoder().decode([DirectDNSError.Code].self, from: Data(#"["timedOut", "later\u001b"]"#.utf8))
    #expect(read == [.timedOut, DirectDNSError.Code(rawValue: "later\u{1b}")])
    #expect(read[1].rawValue == "later\\u{1B}")
  }

  @Test(
    arguments: [
      (.upstreamFailed, true), (.timedOut, true), (.connectFailed, true), (.connectionLost, true), (.storeFailed, true),
      (.nameNotFound, false), (.noAddress, false), (.refused, false), (.addressForbidden, false), (.tlsFailed, false),
      (.invalidURL, false), (.invalidRequest, false), (.redirectRefused, false), (.bodyTooLarge, false),
      (.malformedResponse, false),
      (.shutDown, false), (.cancelled, false),
    ] as [(DirectDNSError.Code, Bool)])
  func `an error says whether the same may succeed later`(_ code: DirectDNSError.Code, _ isTransient: Bool) {
    #expect(DirectDNSError(code, "").isTransient == isTransient)
  }

  @Test func `an error says of no request that it may have reached a server, unless it is told so`() {
    let error = DirectDNSError(.connectFailed, "x", attempts: [.init(server: "a", reason: "b")])
    #expect(!error.mayHaveReachedServer && error.reachingServer.mayHaveReachedServer)
    #expect(error.reachingServer.description == error.description && error.reachingServer.code == .connectFailed)
  }

  @Test func `the error below is kept`() {
    let error = DirectDNSError(.cancelled, "cancelled", underlying: CancellationError())
    #expect(error.underlying is CancellationError)
  }
}
