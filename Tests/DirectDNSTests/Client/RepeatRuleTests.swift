import HTTPTypes
import Testing

@testable import DirectDNS

struct RepeatRuleTests {
  private let lost = CurlFailure(.connectionLost("reset"), mayHaveArrived: true)

  @Test func `a lost connection is worth a second attempt, if it can do no harm, and no third`() {
    #expect(RepeatRule.allows(lost, isRepeatable: true, hasRepeated: false))
    #expect(!RepeatRule.allows(lost, isRepeatable: false, hasRepeated: false))
    #expect(!RepeatRule.allows(lost, isRepeatable: true, hasRepeated: true))
    let repeated = CurlFailure(.connectionLost("reset"), mayHaveArrived: true, wasRepeated: true)
    #expect(!RepeatRule.allows(repeated, isRepeatable: true, hasRepeated: false))
  }

  @Test(arguments: [
    CurlError.timedOut, .cancelled, .shutDown, .tls("x"), .connect("x"), .invalidRequest("x"), .bodyTooLarge,
  ])
  func `no other failure is`(_ reason: CurlError) {
    let failure = CurlFailure(reason, mayHaveArrived: true)
    #expect(!RepeatRule.allows(failure, isRepeatable: true, hasRepeated: false))
  }

  @Test(arguments: [HTTPRequest.Method.get, .head, .options, .trace, .put, .delete])
  func `idempotent methods are those of RFC 9110`(_ method: HTTPRequest.Method) {
    #expect(RepeatRule.isIdempotent(method))
    for other in [HTTPRequest.Method.post, .patch, .connect] { #expect(!RepeatRule.isIdempotent(other)) }
  }
}
