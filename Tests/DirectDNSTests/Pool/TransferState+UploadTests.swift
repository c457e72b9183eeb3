// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// Uploads that go on behind their responses, or wait for their sources.
final class TransferStateUploadTests: PoolFixture {
  /// A transfer that is sent, and whose response has begun.
  private func receiving() -> Machine.TransferID {
    let id = start(.always)
    _ = connect(id, 7)
    machine.headIsComplete(id, isMultiplexed: true)
    _ = machine.endTurn(at: 1)
    _ = taken()
    return id
  }

  private func looks(at now: Int64) -> [String] {
    _ = machine.endTurn(at: now)
    return taken()
  }

  @Test func `what sends nothing for 100 ms behind its answer is looked at, and ends if it has no reason to wait`() {
    let id = receiving()
    machine.answered(id, at: 1_000)
    machine.answered(id, at: 1_050)
    #expect(looks(at: 1_099).isEmpty)
    #expect(looks(at: 1_100) == ["check 0"])
    #expect(looks(at: 1_199).isEmpty, "it waits, and has its time anew")
    #expect(looks(at: 1_200) == ["check 0"])
    machine.checked(id, UploadFacts())
    #expect(taken() == ["end 0", "close 0.0"])
  }

  @Test(arguments: [
    (UploadFacts(), false, false), (UploadFacts(isHeldBack: true), false, true),
    (UploadFacts(isAccepted: true), false, false), (UploadFacts(isAccepted: true, isBlocked: true), false, true),
    (UploadFacts(isAccepted: true, hasSentBody: true, isBlocked: true), false, false),
    (UploadFacts(isBlocked: true), false, false), (UploadFacts(), true, false),
    (UploadFacts(isAccepted: true), true, true),
  ])
  func `an upload waits if its reader is behind, or if the server may want the rest and nothing can be sent`(
    _ upload: UploadFacts, _ isStarved: Bool, _ waits: Bool
  ) {
    let id = receiving()
    if isStarved { machine.starved(id, at: 1_000) }
    machine.checked(id, upload)
    #expect(taken().isEmpty == waits)
  }

  @Test func `what goes on sending behind its answer goes on`() {
    let id = receiving()
    machine.answered(id, at: 1_000)
    for round in 1...5 as ClosedRange<Int64> {
      machine.sent(id, at: 1_000 + round * 90)
      #expect(looks(at: 1_000 + round * 90 + 50).isEmpty)
    }
    #expect(looks(at: 1_550) == ["check 0"])
  }

  @Test func `one whose source has nothing to send is continued every 50 ms once its response has begun`() {
    let id = receiving()
    machine.starved(id, at: 100)
    #expect(looks(at: 149).isEmpty)
    #expect(looks(at: 150) == ["resume 0"])
    #expect(looks(at: 199).isEmpty)
    #expect(looks(at: 200) == ["resume 0"])
    machine.sent(id, at: 210)
    #expect(looks(at: 1_000).isEmpty)
  }

  @Test func `before its response one whose source has nothing to send is left alone, however long that lasts`() {
    let id = start(.always)
    _ = connect(id, 7)
    machine.starved(id, at: 1)
    _ = taken()
    #expect(looks(at: 40_000).isEmpty)
    machine.headIsComplete(id, isMultiplexed: true)
    #expect(looks(at: 40_001) == ["resume 0"])
  }

  @Test func `when it is sent again its time for a response runs, although its source had nothing to send`() {
    let id = start(.always)
    _ = connect(id, 7)
    machine.starved(id, at: 1)
    #expect(machine.endTurn(at: 5_000) == 60_000)
    guard case .again = machine.maySend(id, attempt: 0, at: 5_001) else { return #expect(Bool(false)) }
    machine.retries(id, attempt: 0, isRewound: true, at: 5_001)
    #expect(machine.endTurn(at: 5_002) == 35_001)
  }

  @Test(arguments: [true, false])
  func `a server that stops reading behind its answer fails the request if it wanted the rest`(_ isInPart: Bool) {
    let id = receiving()
    let reason = HTTPTransportError.connectionLost("it reads no more")
    machine.ended(id, attempt: 0, isInPart ? .inPart(reason) : .complete, at: 2)
    #expect(taken() == [isInPart ? "fail 0 \(reason)" : "end 0", "close 0.0"])
  }
}
