// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNSProxy

@Suite("A read that is held back")
struct HeldReadTests {
  @Test func `a read that is wanted is made at once`() {
    var read = HeldRead()
    let reads = [read.asked(isWanted: true), read.released(isWanted: true)]
    #expect(reads == [true, false])
  }

  @Test func `one that is not wanted is made once, when it is`() {
    var read = HeldRead()
    let reads = [
      read.asked(isWanted: false), read.released(isWanted: false), read.released(isWanted: true),
      read.released(isWanted: true),
    ]
    #expect(reads == [false, false, true, false])
  }

  @Test func `nobody looks whether a read is wanted while none is held back`() {
    var read = HeldRead()
    var looks = 0
    func isWanted() -> Bool {
      looks += 1
      return true
    }
    _ = read.released(isWanted: isWanted())
    #expect(looks == 0)
  }
}
