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
    #expect(!mailbox.post(.start(CurlJob(.sample("http://127.0.0.1:1/")) { _ in })))
    #expect(mailbox.take(into: &commands) && commands.isEmpty)
  }
}
