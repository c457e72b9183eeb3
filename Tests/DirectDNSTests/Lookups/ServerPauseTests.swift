// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// How a server is asked again after 429, in moved time.
struct ServerPauseTests {
  private var pause = ServerPause(until: Sample.at(2))

  /// How many queries go out at once, if as many are wanted as it allows and at most fifty.
  private mutating func burst(at seconds: Double) -> Int {
    var count = 0
    while count < 50, pause.heldUntil(at: Sample.at(seconds)) == nil {
      pause.asked(at: Sample.at(seconds))
      count += 1
    }
    return count
  }

  private mutating func reply(at seconds: Double, after time: Duration = .zero) -> Bool {
    pause.replied(after: time, at: Sample.at(seconds))
  }

  @Test mutating func `nothing is sent before its end, and one query after it`() {
    #expect(burst(at: 1.999) == 0)
    #expect(pause.heldUntil(at: Sample.at(1.999)) == Sample.at(2))
    #expect(burst(at: 5) == 1)
    #expect(pause.heldUntil(at: Sample.at(5)) == Sample.at(6))
  }

  @Test mutating func `a query that brings nothing is waited for for a second, and then one more is sent`() {
    #expect(burst(at: 2) == 1 && burst(at: 2.999) == 0 && burst(at: 3) == 1 && burst(at: 3.5) == 0)
  }

  @Test mutating func `with each reply one more query may be under way, until it is asked as before`() {
    var (sent, replies) = (burst(at: 2), 0)
    while replies < ServerPause.lastReply - 1 {
      let isOver = reply(at: 2)
      replies += 1
      sent += burst(at: 2)
      #expect(!isOver && sent - replies == replies + 1)
    }
    let isOver = reply(at: 2)
    #expect(isOver)
  }

  @Test mutating func `replies to what was asked before its end change nothing`() {
    for _ in 0..<100 {
      let isOver = reply(at: 1.9)
      #expect(!isOver)
    }
    #expect(burst(at: 2) == 1)
  }

  @Test mutating func `a query that found out nothing makes room for the next`() {
    #expect(burst(at: 2) == 1)
    pause.wasNoTrial(after: .zero)
    #expect(burst(at: 2) == 1)
    pause.wasNoTrial(after: .zero)
    pause.wasNoTrial(after: .zero)
    #expect(burst(at: 2) == 1)
  }

  @Test mutating func `a late reply makes room for one more, not for two`() {
    #expect(burst(at: 2) == 1 && burst(at: 3) == 1)
    let isOver = reply(at: 3.2, after: .seconds(1.2))
    #expect(!isOver && burst(at: 3.2) == 1)
  }

  @Test mutating func `another 429 begins anew, and shortens no pause`() {
    _ = burst(at: 2)
    _ = reply(at: 2)
    pause.refused(until: Sample.at(4))
    #expect(pause.end == Sample.at(4) && burst(at: 3) == 0 && burst(at: 4) == 1)
    pause.refused(until: Sample.at(3))
    #expect(pause.end == Sample.at(4))
  }
}
