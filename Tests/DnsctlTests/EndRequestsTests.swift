// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DnsctlCommands

struct EndRequestsTests {
  @Test(
    arguments: [
      ([0, 20], [.first, .repeated]), ([5, 5, 300], [.first, .repeated, .second]),
      ([0, 199, 200], [.first, .repeated, .second]),
      ([0, 1000, 1001], [.first, .second, .second]),
    ] as [([UInt64], [EndRequests.Meaning])])
  func `a request to end that comes together with the first is none of its own`(
    milliseconds: [UInt64], meanings: [EndRequests.Meaning]
  ) {
    var requests = EndRequests()
    #expect(milliseconds.map { requests.take(at: 7 + $0 * 1_000_000) } == meanings)
  }
}
