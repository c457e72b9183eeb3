// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct AttemptOutcomeTests {
  private static let reset = HTTPTransportError.connectionLost("reset")

  private func outcome(
    _ end: AttemptEnd, isHeadCut: Bool = false, isUnprocessed: Bool = false, hasWholeBody: Bool = false,
    isAccepted: Bool = false, hasSentBody: Bool = false
  ) -> AttemptOutcome {
    AttemptOutcome(
      end, isHeadCut: isHeadCut, isUnprocessed: isUnprocessed, hasWholeBody: hasWholeBody, isAccepted: isAccepted,
      hasSentBody: hasSentBody, failure: Self.reset)
  }

  @Test(arguments: [
    (AttemptEnd.complete, AttemptOutcome.complete), (.sendFailed, .failed(reset)), (.connectionEnded, .failed(reset)),
    (.streamEnded, .failed(reset)), (.http2, .failed(reset)), (.other, .failed(reset)),
  ])
  func `without a response an attempt ends as libcurl says`(_ end: AttemptEnd, _ expected: AttemptOutcome) {
    #expect(outcome(end) == expected)
  }

  @Test func `what libcurl calls complete is not, if the response ended within its head`() {
    #expect(outcome(.complete, isHeadCut: true) == .brokenOff)
    #expect(outcome(.connectionEnded, isHeadCut: true) == .failed(Self.reset))
  }

  @Test(arguments: [AttemptEnd.sendFailed, .connectionEnded, .streamEnded, .http2, .other])
  func `a server that has not processed the request has refused it, however the attempt ended`(_ end: AttemptEnd) {
    #expect(outcome(end, isUnprocessed: true) == .refused)
    #expect(outcome(.complete, isUnprocessed: true) == .complete)
  }

  @Test(arguments: [
    (true, false, false, AttemptOutcome.complete), (true, true, true, .complete), (true, true, false, .inPart(reset)),
    (false, true, false, .failed(reset)),
  ])
  func `a server that stops reading behind its whole response fails the request only if it wanted the rest`(
    _ hasWholeBody: Bool, _ isAccepted: Bool, _ hasSentBody: Bool, _ expected: AttemptOutcome
  ) {
    for end in [AttemptEnd.sendFailed, .streamEnded] {
      let ended = outcome(end, hasWholeBody: hasWholeBody, isAccepted: isAccepted, hasSentBody: hasSentBody)
      #expect(ended == expected, "\(end)")
    }
  }

  @Test func `nothing is asked of a handle whose transfer is complete`() {
    var asked = 0
    func ask() -> Bool {
      asked += 1
      return false
    }
    _ = AttemptOutcome(
      .complete, isHeadCut: false, isUnprocessed: ask(), hasWholeBody: ask(), isAccepted: ask(), hasSentBody: ask(),
      failure: Self.reset)
    #expect(asked == 0)
  }

  @Test(arguments: [
    (AttemptOutcome.inPart(reset), "reset"), (.failed(reset), "reset"),
    (.brokenOff, "before its head"), (.complete, "before the request went out"), (.refused, "unprocessed"),
  ])
  func `each outcome says what is wrong where there is no response`(_ outcome: AttemptOutcome, _ words: String) {
    #expect(outcome.reason.text.contains(words))
  }
}
