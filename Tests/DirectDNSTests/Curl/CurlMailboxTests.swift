// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct CurlMailboxTests {
  @Test func `a mailbox that was stopped takes nothing, and lets nobody wait`() {
    let mailbox = CurlMailbox<CurlQueries>(())
    var commands: [CurlQueries.Command] = []
    #expect(mailbox.mayWait())
    #expect(!mailbox.take(into: &commands))
    mailbox.stop()
    #expect(!mailbox.mayWait())
    #expect(!mailbox.post(.start(CurlJob(.sample("http://127.0.0.1:1/"), for: Nobody()))))
    #expect(mailbox.take(into: &commands) && commands.isEmpty)
  }

  private final class Nobody: CurlRecipient {
    func receive(_ jobs: ArraySlice<CurlJob>) {}
  }
}
