// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// Requests that wait for another one's connection, to a server that has none for anybody.
final class PoolOutageTests {
  typealias Machine = PoolMachine<String>

  private var machine = Machine(
    PoolLimits(connections: 4, connectionsPerRoute: 2, streams: 2, attemptDelay: 250))
  private var now: Int64 = 0

  private func start(_ address: UInt32 = 1, connect: Int64 = 5_000) -> Machine.TransferID {
    let terms = TransferTerms(
      addresses: [.ipv4(address)], isRetryable: true, connectTimeout: connect, firstByteTimeout: 30_000,
      deadline: 120_000)
    return machine.start(terms, "a", .unknown, at: now)
  }

  /// What happens by then: who begins to connect, and who fails.
  private func pass(until instant: Int64) -> [String] {
    now = instant
    _ = machine.endTurn(at: now)
    return (machine.actions.take() ?? []).compactMap { action in
      switch action {
      case .connect(let id, _, _, _): "connect \(id.index)"
      case .end(let id, .failure(let failure)):
        "fail \(id.index) \(failure.facts.reason), \(failure.facts.isAnothers ? "another's" : "its own")"
      default: nil
      }
    }
  }

  @Test func `who has waited as long as a connection may take fails with those who tried`() {
    _ = start()
    now = 1
    for _ in 0..<3 { _ = start() }
    #expect(pass(until: 1) == ["connect 0"])
    #expect(pass(until: 5_000) == ["fail 0 timed out, its own", "connect 1"])
    // It came while the second one tried.
    now = 6_000
    _ = start()
    let ends = pass(until: 10_000)
    #expect(
      ends == [
        "fail 1 timed out, its own", "fail 2 timed out, another's", "fail 3 timed out, another's", "connect 0",
      ])
  }

  @Test func `that the other one had been sent before is not told of who waited`() {
    let terms = TransferTerms(
      addresses: [.ipv4(1)], connectTimeout: 5_000, firstByteTimeout: 30_000, deadline: 120_000)
    var state = TransferState(terms)
    state.begin(.any, terms.addresses, delay: 250, at: 0)
    let failed = TransferFailure(.init(reason: .connect("refused"), wasRetried: true, refusals: 2))
    let outage = PoolOutage(failed, of: state, after: nil, at: 5_000)
    let failure = outage?.failure(of: terms, waitingSince: 0, at: 5_000)
    #expect(failure?.facts.isAnothers == true && failure?.facts.mayHaveReachedServer == false)
  }

  @Test func `what fails at once makes nobody else fail`() {
    let first = start()
    _ = start()
    #expect(pass(until: 0) == ["connect 0"])
    machine.ended(first, attempt: 0, .failed(.connect("refused")), at: 1)
    #expect(pass(until: 1) == ["fail 0 no connection: refused, its own", "connect 1"])
  }

  @Test func `who may try other addresses, or for longer, does`() {
    _ = start()
    now = 1
    _ = [start(), start(2), start(connect: 60_000)]
    _ = pass(until: 5_000)
    #expect(pass(until: 10_000) == ["fail 1 timed out, its own", "connect 2"])
    #expect(pass(until: 15_000) == ["fail 2 timed out, its own", "connect 3"])
  }

  @Test func `an established connection makes what was lost before forgotten`() {
    _ = start()
    now = 1
    _ = [start(), start()]
    _ = pass(until: 5_000)
    let second = machine.running[0]
    machine.dialled(7, second, attempt: 0)
    guard case .first = machine.maySend(second, attempt: 0, at: 9_000) else { return #expect(Bool(false)) }
    machine.headIsComplete(second, isMultiplexed: false)
    #expect(pass(until: 10_000) == ["connect 2"])
  }
}
