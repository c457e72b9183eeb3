// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct InFlightTests {
  @Test func `what is closed lets nobody in, and waits for those who are`() async {
    let inFlight = InFlight()
    #expect(inFlight.enter())
    inFlight.join()
    inFlight.close()
    #expect(!inFlight.enter())
    let waiting = Task.immediate { await inFlight.drained(within: .seconds(60)) }
    inFlight.leave()
    inFlight.leave()
    await waiting.value
  }

  @Test func `with nothing under way there is nothing to wait for`() async {
    let inFlight = InFlight()
    inFlight.close()
    await inFlight.drained(within: .seconds(60))
  }

  @Test func `who stays is not waited for beyond the limit`() async {
    let inFlight = InFlight()
    #expect(inFlight.enter())
    inFlight.close()
    await inFlight.drained(within: .milliseconds(10))
    await inFlight.drained(within: .zero)
  }

  @Test func `who is cancelled waits no longer, be it before`() async {
    let inFlight = InFlight()
    #expect(inFlight.enter())
    inFlight.close()
    let waiting = Task.immediate { await inFlight.drained(within: .seconds(60)) }
    waiting.cancel()
    await waiting.value
    await Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      await inFlight.drained(within: .seconds(60))
    }.value
  }

  @Test func `everyone who waits is told of the end, and by his own limit alone`() async {
    let inFlight = InFlight()
    #expect(inFlight.enter())
    inFlight.close()
    let first = Task.immediate { await inFlight.drained(within: .seconds(60)) }
    let second = Task.immediate { await inFlight.drained(within: .seconds(60)) }
    await inFlight.drained(within: .nanoseconds(1))
    inFlight.leave()
    await first.value
    await second.value
  }
}
