// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct InFlightTests {
  /// Long enough for any machine, and less than the test has.
  private static let limit = Duration.seconds(20)

  /// How long the end was waited for, at most the limit.
  private func wait(for inFlight: InFlight, within limit: Duration = limit) async -> Duration {
    await ContinuousClock().measure { await inFlight.waitUntilEmpty(within: limit) }
  }

  @Test func `what is closed lets nobody in, and waits for those who are`() async {
    let inFlight = InFlight()
    #expect(inFlight.enter())
    inFlight.enterOnceMore()
    inFlight.close()
    #expect(!inFlight.enter())
    let isOver = Watched(false)
    let waiting = Task.immediate {
      defer { isOver.change { $0 = true } }
      return await wait(for: inFlight)
    }
    inFlight.leave()
    #expect(!isOver.value)
    inFlight.leave()
    #expect(await waiting.value < Self.limit)
  }

  @Test func `with nothing under way there is nothing to wait for`() async {
    let inFlight = InFlight()
    inFlight.close()
    #expect(await wait(for: inFlight) < Self.limit)
  }

  @Test func `who stays is not waited for beyond the limit`() async {
    let inFlight = InFlight()
    #expect(inFlight.enter())
    inFlight.close()
    let waited = await wait(for: inFlight, within: .milliseconds(10))
    #expect(waited >= .milliseconds(10) && waited < Self.limit)
    #expect(await wait(for: inFlight, within: .zero) < Self.limit)
  }

  @Test func `a limit beyond the end of any clock is one`() async {
    let inFlight = InFlight()
    #expect(inFlight.enter())
    inFlight.close()
    let waiting = Task.immediate { await wait(for: inFlight, within: .seconds(Int64.max)) }
    inFlight.leave()
    #expect(await waiting.value < Self.limit)
  }

  @Test func `who is cancelled waits no longer, be it before`() async {
    let inFlight = InFlight()
    #expect(inFlight.enter())
    inFlight.close()
    let waiting = Task.immediate { await wait(for: inFlight) }
    waiting.cancel()
    #expect(await waiting.value < Self.limit)
    let cancelled = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return await wait(for: inFlight)
    }
    #expect(await cancelled.value < Self.limit)
  }

  @Test func `everyone who waits is told of the end, and by his own limit alone`() async {
    let inFlight = InFlight()
    #expect(inFlight.enter())
    inFlight.close()
    let over = Watched(0)
    let others = (0..<2).map { _ in
      Task.immediate {
        defer { over.change { $0 += 1 } }
        return await wait(for: inFlight)
      }
    }
    #expect(await wait(for: inFlight, within: .nanoseconds(1)) < Self.limit)
    #expect(over.value == 0)
    inFlight.leave()
    for other in others { #expect(await other.value < Self.limit) }
  }
}
