// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct LoopMailboxTests {
  @Test func `a mailbox that was stopped takes nothing, and lets nobody wait`() {
    let mailbox = LoopMailbox<CurlQueries>(())
    var commands: [CurlQueries.Command] = []
    #expect(mailbox.mayWait())
    #expect(!mailbox.take(into: &commands))
    mailbox.stop()
    #expect(!mailbox.mayWait())
    #expect(!mailbox.post(.start(CurlJob(.sample("http://127.0.0.1:1/"), for: Nobody()))))
    #expect(mailbox.take(into: &commands) && commands.isEmpty)
  }

  @Test func `why a mailbox takes nothing is that it was stopped, or that no thread can begin`() {
    let mailbox = LoopMailbox<CurlQueries>(())
    #expect(mailbox.refusal == .noSocket("this process may open no further files (ulimit -n)"))
    mailbox.stop()
    #expect(mailbox.refusal == .shutDown)
  }

  private final class Nobody: CurlRecipient {
    func receive(_ jobs: ArraySlice<CurlJob>) {}
  }
}

struct WakeUpTests {
  @Test func `a call can be seen until it was seen, however often it was made`() throws {
    let wakeUp = try #require(WakeUp())
    let poller = PollWait()
    poller.register(wakeUp.descriptor, .reading, insteadOf: [])
    #expect(poller.wait(0) == 0)
    for _ in 0..<3 { wakeUp.call() }
    #expect(poller.wait(0) == 1 && wakeUp.isFor(poller.event(0).descriptor))
    wakeUp.wasSeen()
    #expect(poller.wait(0) == 0)
  }
}
