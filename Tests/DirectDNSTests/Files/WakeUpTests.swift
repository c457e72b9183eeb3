// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct WakeUpTests {
  @Test func `a call can be seen until it was seen, however often it was made`() throws {
    let wakeUp = try #require(WakeUp())
    let poller = PollWait()
    poller.register(wakeUp.descriptor, .reading, insteadOf: [])
    #expect(poller.wait(0) == 0)
    for _ in 0..<3 { wakeUp.call() }
    #expect(poller.wait(0) == 1 && poller.event(0).descriptor == wakeUp.descriptor)
    wakeUp.wasSeen()
    #expect(poller.wait(0) == 0)
  }
}
