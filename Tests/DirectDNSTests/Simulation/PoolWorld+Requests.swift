// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// Requests that go out in a ``PoolWorld``, and what servers do with them.
extension PoolWorld {
  func isCurrent(_ sending: Sending) -> Bool {
    attempts[sending.attempt]?.isSent == true && attempts[sending.attempt]?.sending == sending.number
  }

  mutating func send(_ id: AttemptID) {
    // One that nobody reads any more is not sent: its body was taken away.
    guard let number = attempts[id]?.caller, callerOf[id.transfer] != nil else { return }
    if callers[number].hasBodyFailed { fault("caller \(number)'s request was sent although its body has failed") }
    attempts[id]?.isSent = true
    sendings += 1
    attempts[id]?.sending = sendings
    let sending = Sending(attempt: id, number: sendings)
    machine.moved(id.transfer, at: now)
    let reply = chooseReply(to: number)
    let isPulled = callers[number].body.isPulled && reply != .expectationFailed
    guard !isPulled || readBody(of: number) else {
      leave(id)
      return end(id, .failed(.connectionLost("necessary data rewind was not possible")))
    }
    attempts[id]?.isProcessed = reply != .refusedStream && reply != .expectationFailed
    if attempts[id]?.isProcessed == true { callers[number].processed += 1 }
    say("  caller \(number)'s request goes out for \(reply)")
    guard isPulled else { return plan(.reply(sending, reply), in: 1...900) }
    plan(.piece(sending, left: Int.random(in: 0...4, using: &random)), in: 0...1_500)
    // Some servers answer before they have seen the whole body, or break off.
    if reply != .whole || chance(0.2) { plan(.reply(sending, reply), in: 1...900) }
  }

  private mutating func chooseReply(to number: Int) -> Reply {
    if callers[number].expectsContinue, chance(0.4) { return .expectationFailed }
    guard chance(0.25), let reply = Reply.allCases.randomElement(using: &random) else { return .whole }
    switch reply {
    case .expectationFailed: return .whole
    case .refusedStream where servers[callers[number].server].speaks == .http1: return .reset
    default: return reply
    }
  }

  mutating func sendPiece(_ id: AttemptID, _ left: Int) {
    guard let attempt = attempts[id], !attempt.hasHead, callerOf[id.transfer] != nil else { return }
    machine.sent(id.transfer, at: now)
    if let failsAfter = callers[attempt.caller].failsAfter, left <= failsAfter {
      callers[attempt.caller].hasBodyFailed = true
      leave(id)
      if let socket = attempt.socket, servers[callers[attempt.caller].server].speaks == .http1 { drop(socket) }
      return end(id, .failed(.cancelled))
    }
    let sending = Sending(attempt: id, number: attempt.sending)
    if left > 0 {
      if chance(0.2) { machine.starved(id.transfer, at: now) }
      return plan(.piece(sending, left: left - 1), in: 0...1_500)
    }
    plan(.reply(sending, chance(0.9) ? .whole : .reset), in: 1...900)
  }

  mutating func reply(_ id: AttemptID, _ reply: Reply) {
    guard let attempt = attempts[id], !attempt.hasHead, let socket = attempt.socket else { return }
    switch reply {
    case .nothing: break
    case .whole, .cutOff:
      takeHead(id, attempt)
      let sending = Sending(attempt: id, number: attempt.sending)
      let server = servers[callers[attempt.caller].server]
      if reply == .whole, server.speaks == .http2, callers[attempt.caller].body.isPulled, chance(0.5) {
        machine.answered(id.transfer, at: now)
        // It may as well go on, and end later than it is looked at.
        if chance(0.5) { attempts[id]?.stuckSince = now } else { plan(.finished(sending), in: 0...600) }
      } else if reply == .whole {
        plan(.finished(sending), in: 0...600)
      } else {
        plan(.dies(socket), in: 0...300)
      }
    case .refusedStream: refuse(id)
    case .expectationFailed:
      takeHead(id, attempt, refusesExpectation: true)
      withdrawBody(of: id.transfer)
      // libcurl wants to send it again, without the expectation.
      leave(id)
      find(id)
    case .reset: die(socket)
    }
  }

  private mutating func takeHead(_ id: AttemptID, _ attempt: Attempt, refusesExpectation: Bool = false) {
    let server = servers[callers[attempt.caller].server]
    attempts[id]?.hasHead = true
    if callers[attempt.caller].id == id.transfer { callers[attempt.caller].hasHead = true }
    // A response of plain HTTP through a proxy tells nothing of the server's connections.
    let tells = server.proxy == nil || server.known != .never
    machine.headIsComplete(
      id.transfer, isMultiplexed: tells ? server.speaks == .http2 : nil, refusesExpectation: refusesExpectation)
  }

  /// HTTP/2 refuses a request unprocessed, and libcurl sends it once more.
  mutating func refuse(_ id: AttemptID) {
    guard let attempt = attempts[id], let socket = attempt.socket else { return }
    if attempt.isProcessed { callers[attempt.caller].processed -= 1 }
    attempts[id]?.isProcessed = false
    // Curl_retry_request: what it may retry anyway leaves the mark alone, and anything else uses it up.
    attempts[id]?.wasRefused = sockets[socket]?.isReused ?? false
    leave(id)
    again(id)
  }
}
