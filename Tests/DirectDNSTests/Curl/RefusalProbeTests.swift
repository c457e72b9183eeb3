// SPDX-License-Identifier: Apache-2.0
import CDirectDNSCurl
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct RefusalProbeTests {
  // What it finds after a refusal is in BrokenOriginTests: only a server can refuse.
  @Test func `a handle that was not refused remembers no refusal, however often it is asked`() throws {
    let wakeUp = try #require(WakeUp())
    let poller = try #require(Poller(wakeUp))
    let multi = try #require(CurlMulti(index: 0, poller: poller))
    let handle = try #require(CurlHandle())
    let before = ProcessState.descriptors + 10
    for _ in 0..<50 {
      let refusal = try #require(RefusalProbe(asking: handle))
      #expect(multi.add(handle))
      var end: CURLcode?
      // As the loop does it: it never waits for this transfer alone.
      while end == nil {
        if multi.due <= LoopTime.now { multi.actOnTimers() }
        unsafe multi.reap { end = $1 }
        _ = poller.wait(end == nil ? max(0, min(multi.due, LoopTime.now + 1_000) - LoopTime.now) : 0)
        poller.forEach { socket, ready, _ in multi.act(on: socket, ready) }
      }
      multi.remove(handle)
      #expect(end == CURLE_GOT_NOTHING && !refusal.isRemembered)
      handle.reset()
    }
    #expect(ProcessState.descriptors <= before)
    multi.close()
  }
}
