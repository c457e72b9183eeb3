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
