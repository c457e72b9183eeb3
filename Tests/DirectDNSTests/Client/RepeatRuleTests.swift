import HTTPTypes
import Testing

@testable import DirectDNS

struct RepeatRuleTests {
  private let lost = CurlFailure(.connectionLost("reset"), mayHaveArrived: true)

  private func allows(_ failure: CurlFailure, isRepeatable: Bool = true) -> Bool {
    var history = RepeatRule.History()
    return history.allows(failure, isRepeatable: isRepeatable, canBeReplayed: true)
  }

  @Test func `a lost connection is worth a second attempt, if it can do no harm, and no third`() {
    var history = RepeatRule.History()
    let answers = (0..<2).map { _ in history.allows(lost, isRepeatable: true, canBeReplayed: true) }
    #expect(answers == [true, false])
    #expect(!allows(lost, isRepeatable: false))
    #expect(!allows(CurlFailure(.connectionLost("reset"), mayHaveArrived: true, wasRepeated: true)))
  }

  @Test(arguments: [
    CurlError.timedOut, .cancelled, .shutDown, .tls("x"), .connect("x"), .invalidRequest("x"), .bodyTooLarge,
    .fieldsTooLarge,
  ])
  func `no other failure is`(_ reason: CurlError) {
    #expect(!allows(CurlFailure(reason, mayHaveArrived: true)))
  }

  @Test func `what was refused unprocessed was not sent: it goes out again, some times, and counts for nothing`() {
    let refused = CurlFailure(.connectionLost("refused"), wasRefused: true)
    var history = RepeatRule.History()
    let answers = (0...RepeatRule.refusalLimit).map { _ in
      history.allows(refused, isRepeatable: false, canBeReplayed: true)
    }
    #expect(answers == Array(repeating: true, count: RepeatRule.refusalLimit) + [false])
    let isLostAllowed = history.allows(lost, isRepeatable: true, canBeReplayed: true)
    #expect(isLostAllowed)
    var other = RepeatRule.History()
    let isStreamAllowed = other.allows(refused, isRepeatable: true, canBeReplayed: false)
    #expect(!isStreamAllowed)
  }

  @Test(arguments: [HTTPRequest.Method.get, .head, .options, .trace, .put, .delete])
  func `idempotent methods are those of RFC 9110`(_ method: HTTPRequest.Method) {
    #expect(RepeatRule.isIdempotent(method))
    for other in [HTTPRequest.Method.post, .patch, .connect] { #expect(!RepeatRule.isIdempotent(other)) }
  }
}
