// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct StoreTurnTests {
  private let lease = StoreLease(
    question: AddressQuestion(ResolverFixture.host, .ipv4), holder: "this one")
  private let outcome = QuestionOutcome.restored(
    CacheEntry(
      content: .addresses([Sample.address("192.0.2.7")]), canonicalName: nil, source: 2, life: Sample.life(0, 100)))

  /// A turn that begins at 0 s, where the store has 50 ms and another process 300 ms.
  private func turn(
    hasLeases: Bool = true, timeout: Duration = .seconds(5), clientResponseTimeout: Duration = .milliseconds(300)
  ) -> StoreTurn {
    var configuration = ResolverFixture.configuration(["one"])
    configuration.storeTimeout = .milliseconds(50)
    configuration.cache.clientResponseTimeout = clientResponseTimeout
    return StoreTurn(
      LookupDeadlines(timeout: timeout, from: Sample.at(0)), configuration, hasLeases: hasLeases,
      at: Sample.at(0))
  }

  /// A step in words that a table can have; nil for none.
  private func words(_ step: StoreTurn.Step?) -> String? {
    func seconds(_ instant: ResolverInstant) -> Double { Double(instant.nanoseconds) / 1e9 }
    func tail(_ turn: LeaseTurn?) -> String { turn.map { ", \($0)" } ?? "" }
    return switch step {
    case .read(let end, let turn): "read until \(seconds(end))\(tail(turn))"
    case .takeLease(let duration, let end): "lease for \(duration), until \(seconds(end))"
    case .wait(let end): "wait until \(seconds(end))"
    case .found(_, let turn): "found\(tail(turn))"
    case .ask(let turn): "ask\(tail(turn))"
    case nil: nil
    }
  }

  private func read(
    _ turn: inout StoreTurn, _ reading: StoreReading<QuestionOutcome>, at seconds: Double
  ) -> String? {
    words(turn.read(reading, at: Sample.at(seconds)))
  }

  private func lease(_ turn: inout StoreTurn, _ state: StoreLease.State, at seconds: Double)
    -> String?
  {
    words(turn.lease(state, at: Sample.at(seconds)))
  }

  private func pass(_ turn: inout StoreTurn, at seconds: Double) -> String? {
    words(turn.timePassed(at: Sample.at(seconds)))
  }

  @Test func `it begins by reading, for as long as the store has`() {
    let turn = turn()
    #expect(words(turn.beginning) == "read until 0.05" && turn.isReading && turn.lease == nil)
  }

  @Test func `an answer ends it, and a store that is of no use has the providers asked`() {
    for hasLeases in [true, false] {
      var (found, down, silent) = (
        turn(hasLeases: hasLeases), turn(hasLeases: hasLeases), turn(hasLeases: hasLeases)
      )
      #expect(read(&found, .found(outcome), at: 0.01) == "found")
      #expect(read(&down, .unavailable, at: 0.01) == "ask")
      #expect(pass(&silent, at: 0.05) == "ask")
      #expect([found, down, silent].map(\.isLate) == [false, false, true])
      for var over in [found, down, silent] {
        #expect(!over.isReading && read(&over, .found(outcome), at: 0.06) == nil)
        #expect(lease(&over, .taken(lease), at: 0.06) == nil && pass(&over, at: 0.06) == nil)
      }
    }
  }

  @Test func `what the store does not have is asked for, without leases at once`() {
    var turn = turn(hasLeases: false)
    #expect(read(&turn, .nothing, at: 0.01) == "ask")
  }

  @Test(arguments: [(Duration.seconds(5), "5.99"), (.seconds(1), "1.99")])
  func `the lease outlives the lookup by a second, and is waited for within the store's time`(
    _ timeout: Duration, _ seconds: String
  ) {
    var turn = turn(timeout: timeout)
    #expect(read(&turn, .nothing, at: 0.01) == "lease for \(seconds) seconds, until 0.05")
    #expect(read(&turn, .found(outcome), at: 0.02) == nil, "this reading has been told")
  }

  @Test func `who has the lease reads once more, and then asks with it`() {
    var turn = turn()
    _ = turn.read(.nothing, at: Sample.at(0.01))
    #expect(lease(&turn, .taken(lease), at: 0.02) == "read until 0.05, taken")
    #expect(turn.lease == lease)
    var (found, nothing, silent) = (turn, turn, turn)
    #expect(read(&found, .found(outcome), at: 0.03) == "found")
    #expect(read(&nothing, .nothing, at: 0.03) == "ask")
    #expect(pass(&silent, at: 0.05) == "ask")
    for var over in [found, nothing, silent] {
      #expect(over.takeLease() == lease && over.takeLease() == nil)
    }
  }

  @Test
  func `a lease that does not come in time is not waited for, and is given back when it does`() {
    var turn = turn()
    _ = turn.read(.nothing, at: Sample.at(0.01))
    #expect(pass(&turn, at: 0.05) == "ask, unavailable")
    #expect(lease(&turn, .taken(lease), at: 0.06) == nil && turn.lease == nil)
  }

  @Test func `a store that cannot say who has the lease has the providers asked`() {
    var turn = turn()
    _ = turn.read(.nothing, at: Sample.at(0.01))
    #expect(lease(&turn, .unavailable, at: 0.02) == "ask, unavailable")
  }

  @Test
  func `while another process has the lease its answer is looked for, with the store's time anew`() {
    var turn = turn()
    _ = turn.read(.nothing, at: Sample.at(0.01))
    #expect(lease(&turn, .held, at: 0.02) == "wait until 0.04")
    #expect(turn.isWaiting && read(&turn, .found(outcome), at: 0.03) == nil)
    #expect(pass(&turn, at: 0.04) == "read until 0.09")
    var found = turn
    #expect(read(&found, .found(outcome), at: 0.05) == "found, awaited")
    #expect(read(&turn, .nothing, at: 0.05)?.hasSuffix("until 0.09") == true)
    #expect(
      lease(&turn, .taken(lease), at: 0.06) == "read until 0.09, taken", "the other one is done")
  }

  /// With 3 ms for each call: the first look reads and finds the lease taken, the second one reads.
  @Test func `another process's answer is looked for twice in the time that a second family has`() {
    let look = StoreTurn.interval + .milliseconds(3)
    #expect(look + .milliseconds(3) + look <= FamilyWait.resolutionDelay)
  }

  @Test func `another process is waited for no longer than for a provider`() {
    var turn = turn()
    _ = turn.read(.nothing, at: Sample.at(0))
    for step in 1...15 {
      let now = Double(step) * 20 / 1000
      #expect(lease(&turn, .held, at: now - 0.02) == "wait until \(now)")
      #expect(pass(&turn, at: now)?.hasPrefix("read") == true)
      #expect(read(&turn, .nothing, at: now)?.hasPrefix("lease") == true)
    }
    #expect(lease(&turn, .held, at: 0.3) == "ask, late")
  }

  @Test(arguments: [(0.3, 10.0, 0.3), (300, 5, 2.0), (300, 0.1, 0.04), (0, 5, 0)])
  func `the wait for another process leaves the providers their time`(
    _ clientResponseTimeout: Double, _ timeout: Double, _ end: Double
  ) {
    var turn = turn(timeout: .seconds(timeout), clientResponseTimeout: .seconds(clientResponseTimeout))
    _ = turn.read(.nothing, at: Sample.at(0))
    var late = turn
    #expect(lease(&late, .held, at: end) == "ask, late")
    if end > 0 { #expect(lease(&turn, .held, at: end - 0.01) == "wait until \(end)") }
  }
}
