// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct RetryRuleTests {
  private let lost = TransferFailure(.init(reason: .connectionLost("reset"), delivery: .mayHaveArrived))

  private func allows(_ failure: TransferFailure, isRetryable: Bool = true) -> Bool {
    var history = RetryRule.History()
    return history.allows(failure, isRetryable: isRetryable, canBeReplayed: true)
  }

  @Test func `a lost connection is worth a second attempt, if it can do no harm, and no third`() {
    var history = RetryRule.History()
    let answers = (0..<2).map { _ in history.allows(lost, isRetryable: true, canBeReplayed: true) }
    #expect(answers == [true, false])
    #expect(!allows(lost, isRetryable: false))
    var noted = RetryRule.History()
    noted.noteRetried()
    let isThirdAllowed = noted.allows(lost, isRetryable: true, canBeReplayed: true)
    #expect(!isThirdAllowed && noted.hasRetried)
    #expect(
      !allows(TransferFailure(.init(reason: .connectionLost("reset"), delivery: .mayHaveArrived, wasRetried: true))))
  }

  @Test(arguments: [
    HTTPTransportError.timedOut, .cancelled, .shutDown, .tls("x"), .tlsSetup("x"), .connect("x"), .invalidRequest("x"),
    .bodyTooLarge, .fieldsTooLarge, .malformedResponse("x"),
  ])
  func `no other failure is`(_ reason: HTTPTransportError) {
    #expect(!allows(TransferFailure(.init(reason: reason, delivery: .mayHaveArrived))))
  }

  @Test func `a forbidden address is not got around`() {
    #expect(!allows(lost.changed { $0.forbidden = .ipv4(1) }))
  }

  @Test func `what was refused unprocessed was not sent: it goes out again, some times, and counts for nothing`() {
    let refused = TransferFailure(.init(reason: .connectionLost("refused"), delivery: .refused))
    var history = RetryRule.History()
    let answers = (0...RetryRule.refusalLimit).map { _ in
      history.allows(refused, isRetryable: false, canBeReplayed: true)
    }
    #expect(answers == Array(repeating: true, count: RetryRule.refusalLimit) + [false])
    var counted = RetryRule.History()
    let six = TransferFailure(.init(reason: .connectionLost("refused"), delivery: .refused, refusals: 5))
    let few = (0..<2).map { _ in counted.allows(six, isRetryable: false, canBeReplayed: true) }
    #expect(few == [true, false], "what libcurl has retried counts")
    let isLostAllowed = history.allows(lost, isRetryable: true, canBeReplayed: true)
    #expect(isLostAllowed)
    var other = RetryRule.History()
    let isStreamAllowed = other.allows(refused, isRetryable: true, canBeReplayed: false)
    #expect(!isStreamAllowed)
  }
}
