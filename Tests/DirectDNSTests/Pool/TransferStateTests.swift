// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct TransferStateTests {
  private let near = IPAddress.ipv4(1)
  private let far = IPAddress.ipv4(2)

  private func transfer(
    isRetryable: Bool = true, connect: Int64 = 5_000, firstByte: Int64 = 30_000, deadline: Int64 = 120_000
  ) -> TransferState {
    TransferState(
      TransferTerms(
        addresses: [near, far], isRetryable: isRetryable, connectTimeout: connect, firstByteTimeout: firstByte,
        deadline: deadline))
  }

  private func connected(_ change: (inout TransferState) -> Void = { _ in }) -> TransferState {
    var state = transfer()
    state.begin(.any, [near, far], delay: 250, at: 0)
    _ = state.attempts.step(at: 0)
    _ = state.connected(0, at: 10)
    change(&state)
    return state
  }

  @Test func `unless more is said, a request goes out once, by itself, and its body can be sent anew`() {
    let terms = TransferTerms(connectTimeout: 1, firstByteTimeout: 1, deadline: 1)
    #expect(!terms.isRetryable && !terms.isProxied && !terms.hasOthers && !terms.expectsContinue && terms.canStartOver)
  }

  @Test func `it waits, connects, is sent and received`() {
    var state = transfer()
    #expect(state.isWaiting && state.due == 120_000)
    state.begin(.any, [near, far], delay: 250, at: 100)
    #expect(state.attempts.step(at: 100) == .start(near, attempt: 0))
    #expect(state.attempts.step(at: 100) == .wait(until: 350) && state.due == 350)
    let isFirst = state.connected(0, at: 130) != nil
    #expect(isFirst && state.carrier?.address == near && state.due == 30_130)
    let isNews = [state.headIsComplete(), state.headIsComplete()]
    #expect(isNews == [true, false] && state.due == 120_000)
  }

  @Test func `it awaits a response once it was sent, and receives from its carrier alone unless it was turned away`() {
    var state = transfer()
    #expect(!state.isAwaitingResponse && !state.isReceiving(from: 0))
    state = connected()
    #expect(state.isAwaitingResponse && !state.isReceiving(from: 0))
    _ = state.headIsComplete()
    #expect(!state.isAwaitingResponse && state.isReceiving(from: 0) && !state.isReceiving(from: 1))
    state.requireRequeueOfSent()
    #expect(!state.isReceiving(from: 0) && !state.isReceiving(from: 1))
  }

  @Test func `a response may be silent for so long, but for the time in which its reader holds it back`() {
    var state = connected()
    state.terms.idleTimeout = 1_000
    #expect(state.due == 30_010 && state.exceeded(at: 5_000) == nil)
    _ = state.headIsComplete()
    #expect(state.due == 1_010 && state.exceeded(at: 1_009) == nil && state.exceeded(at: 1_010) == .idle)
    state.moved(at: 900)
    #expect(state.due == 1_900)
    state.heldBack()
    #expect(state.due == 120_000 && state.exceeded(at: 60_000) == nil && state.exceeded(at: 120_000) == .total)
    state.resumed(at: 60_000)
    #expect(state.due == 61_000 && state.exceeded(at: 61_000) == .idle)
    let failure = state.timeOut(.idle, at: 0)
    #expect(
      failure.facts.timer == .idle && failure.facts.reason == .timedOut && failure.facts.delivery == .mayHaveArrived)
  }

  @Test func `a response is not silent while its server waits for the body, nor once it is complete`() {
    var state = connected()
    state.terms.idleTimeout = 1_000
    _ = state.headIsComplete()
    state.starved(at: 900)
    #expect(state.exceeded(at: 50_000) == nil)
    state.sent(at: 60_000)
    #expect(state.exceeded(at: 60_999) == nil && state.exceeded(at: 61_000) == .idle)
    state.answered(at: 60_500)
    #expect(state.exceeded(at: 90_000) == nil && state.exceeded(at: 120_000) == .total)
  }

  @Test func `through a proxy there is one attempt, which needs no race to win`() {
    var terms = TransferTerms(
      addresses: [near], isRetryable: true, connectTimeout: 5_000, firstByteTimeout: 30_000, deadline: 120_000)
    terms.isProxied = true
    var state = TransferState(terms)
    state.begin(.any, [near], delay: 250, at: 0)
    #expect(state.attempts.step(at: 0) == .rest && state.attempts.running.map(\.address) == [nil])
    let isFirst = [state.connected(1, at: 5), state.connected(0, at: 5), state.connected(0, at: 6)].map { $0 != nil }
    #expect(isFirst == [false, true, false] && state.carrier?.attempt == 0)
  }

  @Test func `the first attempt that stands carries it, and the others were slower`() {
    var state = transfer()
    state.begin(.any, [near, far], delay: 250, at: 0)
    _ = state.attempts.step(at: 0)
    _ = state.attempts.step(at: 250)
    for number in [0, 1] { state.attempts.dialled(Int32(number), by: number) }
    let results = [state.connected(1, at: 300), state.connected(0, at: 301)]
    #expect(results.map { $0?.losers } == [[0], nil] && state.attempts.running.map(\.number) == [1])
    #expect(
      state.attempts.slower == [SlowerAddress(address: near, time: .milliseconds(300))] && state.carrier?.address == far
    )
  }

  @Test(arguments: [
    (4_999 as Int64, nil as TransferFailure.Timer?), (5_000, .connect), (120_000, .total),
  ])
  func `a time to connect and one for all of it are kept`(_ now: Int64, _ timer: TransferFailure.Timer?) {
    var state = transfer()
    state.begin(.any, [near], delay: 250, at: 0)
    _ = state.attempts.step(at: 0)
    #expect(state.exceeded(at: now) == timer)
  }

  @Test func `the time for the first byte runs from the last move, and ends with the head`() {
    var state = connected()
    state.moved(at: 20_000)
    #expect(state.exceeded(at: 49_999) == nil && state.exceeded(at: 50_000) == .firstByte)
    _ = state.headIsComplete()
    #expect(state.exceeded(at: 50_000) == nil)
  }

  @Test func `an address that was silent for all the time counts as failed`() {
    var state = transfer()
    state.begin(.any, [near], delay: 250, at: 0)
    _ = state.attempts.step(at: 0)
    state.attempts.dialled(7, by: 0)
    let failure = state.timeOut(.connect, at: 10_000)
    #expect(
      failure.facts.timer == .connect && failure.facts.failedAddresses.map(\.address) == [near]
        && failure.facts.delivery == .notSent)
  }

  @Test func `a request is sent again once, and not at all where that could do harm`() {
    var state = connected { $0.joined(after: nil) }
    #expect(state.mayBeSentAgain(joins: 3))
    state.noteRetry(joins: 3)
    #expect(!state.mayBeSentAgain(joins: 3))
    state.refuseRetry()
    #expect(state.wasRetryRefused && state.failureWithoutRetry(wasRefused: false).facts.wasRetried)
    var harmful = transfer(isRetryable: false)
    harmful.begin(.any, [near], delay: 250, at: 0)
    _ = harmful.attempts.step(at: 0)
    _ = harmful.connected(0, at: 1)
    #expect(!harmful.mayBeSentAgain(joins: 0))
  }

  @Test func `on a connection of its own that nobody joined, libcurl retries what was refused alone`() {
    var state = connected { $0.joined(after: 7) }
    #expect(state.wasRefused(joins: 7) && !state.wasRefused(joins: 8))
    state.noteRetry(joins: 7)
    #expect(state.mayBeSentAgain(joins: 8), "it was not sent")
  }

  @Test func `one that finds no room waits once more, and no third time`() {
    var state = connected()
    let first = state.requireRequeue()
    #expect(first && state.mustRequeue)
    state.requeue()
    #expect(state.isWaiting && state.attempts.running.isEmpty && !state.mustRequeue)
    let second = state.requireRequeue()
    #expect(!second)
  }

  @Test func `a failure to connect tells every address that was tried, and TLS before all other reasons`() {
    var state = transfer()
    state.begin(.any, [near, far], delay: 250, at: 0)
    _ = state.attempts.step(at: 0)
    state.attempts.fail(0, .tls("expired"))
    #expect(state.attempts.step(at: 1) == .start(far, attempt: 1))
    state.attempts.fail(1, .connect("refused"))
    #expect(state.attempts.step(at: 2) == .lost)
    let facts = state.connectFailure.facts
    #expect(facts.reason == .tls("expired") && facts.failedAddresses.count == 2)
    #expect(facts.delivery == .notSent && !facts.wasRetried)
  }

  @Test(arguments: [HTTPTransportError.cancelled, .shutDown])
  func `one that is ended from here may have arrived once it has a connection, or had one before`(
    _ reason: HTTPTransportError
  ) {
    var state = transfer()
    #expect(!state.abandoned(reason).facts.mayHaveReachedServer)
    state = connected { $0.joined(after: nil) }
    #expect(state.abandoned(reason).facts.mayHaveReachedServer && state.abandoned(reason).facts.reason == reason)
    state.noteRetry(joins: 3)
    state.requeue()
    #expect(state.abandoned(reason).facts.mayHaveReachedServer)
    state.begin(.any, [near], delay: 250, at: 20)
    #expect(state.connectFailure.facts.mayHaveReachedServer)
    let late = state.timeOut(.total, at: 120_000)
    #expect(late.facts.delivery == .notSent && late.facts.mayHaveReachedServer)
  }

  @Test func `what libcurl calls wrong in what was sent is the server's`() {
    #expect(connected().failure(.invalidRequest("x")).facts.reason == .malformedResponse("x"))
  }

  @Test func `while libcurl is asked whether it was refused, the time for the first byte goes on`() {
    let state = connected { $0.checkRefusal(at: 1_000) }
    #expect(state.due == 31_000 && state.exceeded(at: 31_000) == .firstByte)
  }
}
