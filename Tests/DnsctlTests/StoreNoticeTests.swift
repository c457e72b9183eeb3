// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting
@testable import DnsctlCommands

struct StoreNoticeTests {
  @Test func `a problem of the store is told once an hour, and another one at once`() {
    let fixture = CommandFixture()
    let clock = ManualClock()
    var context = fixture.context
    context.clock = clock
    let observer = StoreNotice(context).observer(passingTo: nil)
    let full = ResolverEvent.store(name: "sqlite", .failed(DirectDNSError(.storeFailed, "It is full.")))
    for _ in 0..<3 { observer(full) }
    observer(.store(name: "sqlite", .recovered))
    clock.advance(by: .seconds(3599))
    observer(full)
    #expect(fixture.errors.text == "dnsctl: It is full.\n")
    observer(.store(name: "sqlite", .failed(DirectDNSError(.storeFailed, "It is damaged."))))
    clock.advance(by: .seconds(1))
    observer(full)
    #expect(fixture.errors.text == "dnsctl: It is full.\ndnsctl: It is damaged.\ndnsctl: It is full.\n")
  }
}
