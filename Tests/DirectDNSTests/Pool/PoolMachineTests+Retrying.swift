// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

/// What libcurl may send once more, and what becomes of it where no connection can be made for that.
final class PoolMachineRetryingTests: PoolFixture {
  /// A request that was sent on a connection which another one had opened: libcurl retries it if no response comes.
  private func sentOnSharedConnection() -> Machine.TransferID {
    let first = start(.always)
    _ = connect(first, 7)
    _ = machine.endTurn(at: 1)
    let second = start(.always)
    _ = machine.maySend(second, attempt: 0, at: 2)
    _ = taken()
    return second
  }

  @Test
  func `a request that may have arrived goes out again once, and then it is asked whether it was refused`() {
    let second = sentOnSharedConnection()
    let once = machine.maySend(second, attempt: 0, at: 3)
    machine.retries(second, attempt: 0, isRewound: true, at: 3)
    #expect(once.isAgain && machine.maySend(second, attempt: 0, at: 3).isNo)
    machine.ended(second, attempt: 0, .failed(.cancelled), at: 4)
    #expect(taken() == ["refused? 1.0"])
    machine.checked(second, wasRefused: true)
    guard case .end(_, .failure(let failure))? = machine.actions.waiting.first else { return #expect(Bool(false)) }
    #expect(failure.facts.delivery == .refused)
  }

  @Test func `a request is not sent again whose body cannot be sent from the beginning`() {
    let second = sentOnSharedConnection()
    let verdict = machine.maySend(second, attempt: 0, at: 3)
    machine.retries(second, attempt: 0, isRewound: false, at: 3)
    machine.ended(second, attempt: 0, .failed(.cancelled), at: 4)
    #expect(verdict.isAgain && taken() == ["refused? 1.0"])
    machine.checked(second, wasRefused: true)
    guard case .end(_, .failure(let failure))? = machine.actions.waiting.first else { return #expect(Bool(false)) }
    #expect(failure.facts.delivery == .refused && !failure.facts.wasRetried)
  }

  @Test(arguments: [PoolLoad.Multiplexing.never, .always])
  func `a request is silent that is alone on its connection, when nothing of it has moved for so long`(
    _ multiplexing: PoolLoad.Multiplexing
  ) {
    let id = start(multiplexing)
    #expect(!machine.isSilent(id, for: 0, at: 90_000), "it has no connection")
    _ = connect(id, 7)
    #expect(!machine.isSilent(id, for: 10_000, at: 10_000))
    #expect(machine.isSilent(id, for: 10_000, at: 10_001) == (multiplexing == .never))
    machine.moved(id, at: 5_000)
    #expect(!machine.isSilent(id, for: 10_000, at: 14_999))
    machine.headIsComplete(id, isMultiplexed: nil)
    #expect(!machine.isSilent(id, for: 10_000, at: 90_000), "its response has come")
  }

  // MARK: A server that is gone

  /// The failure that is to be told.
  private var told: TransferFailure? {
    for case .end(_, .failure(let failure)) in machine.actions.waiting { return failure }
    return nil
  }

  @Test(arguments: [
    HTTPTransportError.connect("refused"), .tls("expired"), .timedOut, .refusedByProxy(status: 502),
  ])
  func `a request that libcurl gets no connection to retry it on was lost with its own, and its address has failed`(
    _ reason: HTTPTransportError
  ) throws {
    let second = sentOnSharedConnection()
    let mayDial = mayDial(second, at: 10)
    machine.dialled(8, second, attempt: 0)
    machine.ended(second, attempt: 0, .failed(reason), at: 11)
    let failure = try #require(told)
    #expect(mayDial && failure.facts.reason == .connectionLost("no other connection could be made (\(reason.text))"))
    #expect(failure.facts.delivery == .mayHaveArrived && failure.facts.address == near)
    #expect(failure.facts.failedAddresses == [FailedAddress(address: near, reason: reason)])
    #expect(taken().first == "failed 1 \(near)")
    var history = RetryRule.History()
    let isRetried = history.allows(failure, isRetryable: true, canBeReplayed: true)
    #expect(isRetried)
  }

  @Test(arguments: [false, true])
  func `a body that libcurl cannot send from the beginning says nothing of the address`(_ isOwn: Bool) throws {
    var id = sentOnSharedConnection()
    if isOwn {
      // Nobody has joined its connection, so that libcurl retries it only because HTTP/2 refused it.
      id = start(.always, "b")
      _ = connect(id, 9)
      _ = taken()
    }
    let mayDial = mayDial(id, at: 10)
    machine.dialled(8, id, attempt: 0)
    machine.cannotRewind(id, attempt: 0)
    machine.ended(id, attempt: 0, .failed(.connectionLost("rewinding failed")), at: 11)
    if !isOwn {
      #expect(taken() == ["refused? \(id.index).0"])
      machine.checked(id, wasRefused: false)
    }
    let failure = try #require(told)
    #expect(mayDial && failure.facts.failedAddresses.isEmpty)
    #expect(failure.facts.delivery == (isOwn ? .refused : .mayHaveArrived) && !failure.facts.wasRetried)
  }

  @Test func `a machine without a socket for it says nothing of the address`() throws {
    let second = sentOnSharedConnection()
    let mayDial = mayDial(second)
    machine.ended(second, attempt: 0, .failed(.noSocket("none")), at: 11)
    let failure = try #require(told)
    #expect(mayDial && failure.facts.reason == .connectionLost("no other connection could be made (none)"))
    #expect(failure.facts.failedAddresses.isEmpty)
  }

  @Test func `who connects once more, to a silent address, has as long as for the first time`() throws {
    let second = sentOnSharedConnection()
    // The times of its first connection are over.
    #expect(machine.endTurn(at: 6_000) > 30_000)
    let mayDial = mayDial(second, at: 7_000)
    machine.dialled(8, second, attempt: 0)
    #expect(mayDial && machine.endTurn(at: 11_999) == 12_000)
    #expect(taken() == [])
    _ = machine.endTurn(at: 12_000)
    let failure = try #require(told)
    #expect(failure.facts.reason == .connectionLost("no other connection could be made (timed out)"))
    #expect(failure.facts.delivery == .mayHaveArrived && failure.facts.timer == nil && failure.facts.address == near)
    #expect(taken().first == "failed 1 \(near)")
  }

  @Test func `once it is connected again, the time for the response runs`() {
    let second = sentOnSharedConnection()
    let mayDial = mayDial(second, at: 10)
    machine.dialled(8, second, attempt: 0)
    let verdict = machine.maySend(second, attempt: 0, at: 20)
    machine.retries(second, attempt: 0, isRewound: true, at: 20)
    #expect(mayDial && verdict.isAgain)
    _ = machine.endTurn(at: 5_010)
    #expect(taken() == [])
    _ = machine.endTurn(at: 30_020)
    #expect(taken().contains("fail 1 timed out"))
  }

  @Test func `what HTTP/2 refused was not sent, although its address is gone when it is to go out again`() throws {
    let id = start(.always)
    _ = connect(id, 7)
    _ = taken()
    let mayDial = mayDial(id, at: 10)
    machine.ended(id, attempt: 0, .failed(.connect("refused")), at: 11)
    let failure = try #require(told)
    #expect(mayDial && failure.facts.delivery == .refused)
  }

  @Test(arguments: [false, true])
  func `a response counts as complete without its end only if libcurl was kept from retrying its request`(
    _ wantsToRetry: Bool
  ) {
    let id = start()
    _ = connect(id, 7)
    machine.headIsComplete(id, isMultiplexed: false, refusesExpectation: true)
    if wantsToRetry { #expect(machine.maySend(id, attempt: 0, at: 2).isNo) }
    _ = taken()
    machine.ended(id, attempt: 0, .failed(.cancelled), at: 3)
    guard case .end(_, let result)? = machine.actions.waiting.first else { return #expect(Bool(false)) }
    #expect(((try? result.get()) != nil) == wantsToRetry)
  }

  @Test func `to retry a request that was answered, libcurl opens no connection, and the answer counts`() {
    let id = start()
    _ = connect(id, 7)
    machine.headIsComplete(id, isMultiplexed: false, refusesExpectation: true)
    _ = taken()
    let mayDial = mayDial(id, at: 2)
    machine.ended(id, attempt: 0, .failed(.connect("not dialled")), at: 3)
    #expect(!mayDial && taken().first == "end \(id.index)")
  }

  @Test(arguments: [false, true])
  func `a response within which libcurl wants to retry its request is cut short, and it opens no connection for that`(
    _ hasOther: Bool
  ) throws {
    let id = start(.always)
    _ = connect(id, 7)
    machine.headIsComplete(id, isMultiplexed: true)
    _ = taken()
    if hasOther {
      #expect(machine.maySend(id, attempt: 0, at: 2).isNo)
      machine.ended(id, attempt: 0, .failed(.cancelled), at: 3)
    } else {
      let mayDial = mayDial(id, at: 2)
      #expect(!mayDial)
      machine.ended(id, attempt: 0, .failed(.connect("not dialled")), at: 3)
    }
    let failure = try #require(told)
    guard case .connectionLost = failure.facts.reason else { return #expect(Bool(false), "\(failure)") }
    #expect(failure.facts.failedAddresses.isEmpty && failure.facts.delivery == .mayHaveArrived)
  }

  @Test func `an attempt that is not let through counts as one that joined the connection`() {
    let first = start(.always)
    _ = connect(first, 7)
    // The loser of another's race found the connection: libcurl now retries whatever gets no response on it.
    _ = machine.endTurn(at: 1)
    let other = start(.always, "a", terms([near, far]))
    _ = machine.endTurn(at: 300)
    _ = machine.maySend(other, attempt: 1, at: 301)
    let before = machine.transfers[first]?.state.wasRefused(
      joins: machine.pools.ids.first.flatMap { machine.pools[$0]?.joins } ?? -1)
    #expect(before == false)
  }
}
