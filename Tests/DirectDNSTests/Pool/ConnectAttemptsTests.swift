// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct ConnectAttemptsTests {
  private let near = IPAddress.ipv4(1)
  private let far = IPAddress.ipv4(2)

  /// Two attempts, of which the second was started 250 ms after the first.
  private func two(from start: Int64 = 0) -> ConnectAttempts {
    var attempts = ConnectAttempts()
    attempts.begin(ConnectionRace([near, far], delay: 250))
    _ = attempts.step(at: start)
    _ = attempts.step(at: start + 250)
    attempts.dialled(1, by: 0)
    attempts.dialled(2, by: 1)
    return attempts
  }

  @Test func `each address that is due is an attempt of its own`() {
    var attempts = ConnectAttempts()
    #expect(!attempts.isRacing && attempts.step(at: 0) == .rest)
    attempts.begin(ConnectionRace([near, far], delay: 250))
    #expect(attempts.step(at: 0) == .start(near, attempt: 0) && attempts.nextStart == 250)
    #expect(attempts.step(at: 0) == .wait(until: 250))
    #expect(attempts.step(at: 250) == .start(far, attempt: 1))
    #expect(attempts.running.map(\.startedAt) == [0, 250] && attempts[1]?.address == far && attempts[2] == nil)
  }

  @Test func `an attempt has opened a connection once, and no other attempt has`() {
    var attempts = ConnectAttempts()
    attempts.begin(ConnectionRace([near, far], delay: 0))
    _ = attempts.step(at: 0)
    _ = attempts.step(at: 0)
    attempts.dialled(7, by: 1)
    attempts.dialled(8, by: 5)
    let taken = [0, 1, 1, 5].map { attempts.takeDialled(by: $0) }
    #expect(taken == [false, true, false, false] && attempts[1]?.socket == 7 && attempts[0]?.socket == nil)
  }

  @Test func `the first that has a connection wins, and who was slower is told with the time that it had`() {
    var attempts = two(from: 1_000)
    #expect(attempts.connected(5, at: 1_300) == nil, "there is no such attempt")
    #expect(attempts.connected(1, at: 1_300)?.address == far)
    #expect(attempts.slower == [SlowerAddress(address: near, time: .milliseconds(300))])
    #expect(!attempts.isRacing && attempts.nextStart == nil)
    #expect(attempts.dropOthers(than: 1) == [0] && attempts.dropOthers(than: 1) == [])
  }

  @Test func `one that fails makes room for the next, and its address is told`() {
    var attempts = ConnectAttempts()
    attempts.begin(ConnectionRace([near, far], delay: 250))
    _ = attempts.step(at: 0)
    attempts.fail(0, .connect("refused"))
    #expect(attempts.running.isEmpty && attempts.failed == [FailedAddress(address: near, reason: .connect("refused"))])
    #expect(attempts.step(at: 1) == .start(far, attempt: 1))
  }

  @Test func `addresses that join later are tried, too`() {
    var attempts = ConnectAttempts()
    attempts.begin(ConnectionRace([near], delay: 250, hasOthers: true))
    _ = attempts.step(at: 0)
    attempts.fail(0, .timedOut)
    #expect(attempts.step(at: 1) == .ask)
    attempts.join([far])
    #expect(attempts.step(at: 2) == .start(far, attempt: 1))
  }

  @Test func `all that were silent to the end have failed`() {
    var attempts = two()
    attempts.timeOut(at: 5_000, after: 5_000)
    #expect(attempts.failed.map(\.address) == [near, far] && attempts.failed.allSatisfy { $0.reason == .timedOut })
  }

  @Test func `one that libcurl has had no room for has neither failed nor been slower`() {
    var (late, slow) = (ConnectAttempts(), ConnectAttempts())
    late.begin(ConnectionRace([near], delay: 250))
    _ = late.step(at: 0)
    late.timeOut(at: 5_000, after: 5_000)
    slow.begin(ConnectionRace([near, far], delay: 250))
    _ = slow.step(at: 0)
    _ = slow.step(at: 250)
    slow.dialled(7, by: 1)
    #expect(slow.connected(1, at: 300)?.address == far && slow.slower.isEmpty && late.failed.isEmpty)
  }

  @Test func `one that was tried a moment before the end has not failed`() {
    var attempts = ConnectAttempts()
    attempts.begin(ConnectionRace([near, far], delay: 250))
    _ = attempts.step(at: 0)
    _ = attempts.step(at: 250)
    attempts.dialled(7, by: 0)
    attempts.dialled(8, by: 1)
    attempts.timeOut(at: 400, after: 400)
    #expect(attempts.failed.map(\.address) == [near])
  }

  @Test func `through a proxy there is one, without an address`() {
    var attempts = ConnectAttempts()
    attempts.beginProxied(at: 5)
    #expect(attempts.running.map(\.address) == [nil] && !attempts.isRacing && attempts.step(at: 5) == .rest)
    attempts.fail(0, .connect("refused"))
    #expect(attempts.running.isEmpty && attempts.failed.isEmpty)
  }

  @Test func `after a reset none runs, and what had failed is still known`() {
    var attempts = two()
    attempts.fail(0, .timedOut)
    attempts.reset()
    #expect(attempts.running.isEmpty && !attempts.isRacing && attempts.failed.count == 1)
  }
}
