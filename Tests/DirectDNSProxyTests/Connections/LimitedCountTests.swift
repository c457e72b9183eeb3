// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

struct LimitedCountTests {
  @Test func `there is room for as many as may be, and whoever waits is told once`() {
    let (clients, told) = (LimitedCount(), Watched(0))
    #expect(clients.enter(limit: 1) && !clients.enter(limit: 1) && clients.value == 1)
    clients.whenOneLeaves { told.change { $0 += 1 } }
    clients.leave()
    #expect(clients.value == 0 && told.value == 1)
    _ = clients.enter(limit: 1)
    clients.leave()
    #expect(told.value == 1)
  }
}
