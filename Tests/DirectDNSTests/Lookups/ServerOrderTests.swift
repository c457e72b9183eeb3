// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct ServerOrderTests {
  private static func order(_ healths: [ServerHealth], at now: ResolverInstant) -> [Int] {
    ServerOrder.order(healths.map { $0.breaker(at: now) })
  }

  /// One whose breaker is open.
  private func opened(at seconds: Double) -> ServerHealth {
    var health = ServerHealth()
    for number in 0..<ServerHealth.failureLimit {
      let lookup = ServerHealth.LookupKey(host: Sample.name("n\(number).example"), end: Sample.at(seconds + 5))
      health.asked(at: Sample.at(seconds))
      health.failed(.transport, of: lookup, in: .zero, at: Sample.at(seconds))
    }
    return health
  }

  @Test func `servers are asked as configured, whatever their times`() {
    var slow = ServerHealth()
    slow.answered(in: .seconds(2), at: Sample.at(0))
    #expect(Self.order([slow, ServerHealth(), ServerHealth()], at: Sample.at(0)) == [0, 1, 2])
    #expect(Self.order([], at: Sample.at(0)) == [])
  }

  @Test func `an open breaker only moves its server behind the others`() {
    let healths = [opened(at: 0), ServerHealth(), ServerHealth()]
    #expect(Self.order(healths, at: Sample.at(1)) == [1, 2, 0])
    #expect(Self.order(healths, at: Sample.at(30)) == [0, 1, 2])
  }

  @Test func `when every breaker is open the one that opened first is asked first`() {
    let healths = [opened(at: 3), opened(at: 1), opened(at: 2)]
    #expect(Self.order(healths, at: Sample.at(4)) == [1, 2, 0])
    #expect(Self.order([opened(at: 1), opened(at: 1)], at: Sample.at(4)) == [0, 1])
  }

  @Test func `only one lookup probes, the next one goes on without`() {
    var healths = [opened(at: 0), ServerHealth()]
    #expect(Self.order(healths, at: Sample.at(30)) == [0, 1])
    healths[0].asked(at: Sample.at(30))
    #expect(Self.order(healths, at: Sample.at(30)) == [1, 0])
  }
}
