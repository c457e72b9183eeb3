// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct TransferFailureTests {
  @Test func `of a request that was not sent nothing is known but the reason`() {
    let facts = TransferFailure(.shutDown).facts
    #expect(facts.reason == .shutDown && facts.delivery == .notSent)
    #expect(facts.failedAddresses.isEmpty && facts.timer == nil)
    #expect(!facts.wasRetried && facts.refusals == 0 && !facts.isAnothers && facts.bodyFailure == nil)
  }

  @Test func `a change leaves everything else as it was`() {
    let first = TransferFailure(
      .init(
        reason: .timedOut, failedAddresses: [.init(address: .ipv4(1), reason: .timedOut)], delivery: .mayHaveArrived,
        wasRetried: true, refusals: 2, timer: .idle, forbidden: .ipv4(2), address: .ipv4(3)))
    let changed = first.changed { $0.isAnothers = true }
    #expect(changed.facts.isAnothers && !first.facts.isAnothers)
    let again = changed.changed { $0.isAnothers = false }
    #expect("\(again.facts)" == "\(first.facts)")
  }
}
