/// What is done at the end of each turn, and when a time is over.
extension CurlExchanges {
  func settle() -> Int64 {
    // One whose exchange has ended since is retired already, and perhaps another's by now.
    for (attempt, exchange) in losers where attempt.exchange === exchange { retire(attempt) }
    losers.removeAll(keepingCapacity: true)
    if !changedLanes.isEmpty {
      if waiting.count > 0 {
        for lane in changedLanes { waiting.unpark(lane) }
        admitWaiting()
      }
      for lane in changedLanes {
        lane.isChanged = false
        if lane.load.isEmpty, !waiting.isWaiting(in: lane) { lanes[lane.route] = nil }
      }
      changedLanes.removeAll(keepingCapacity: true)
    }
    if nextDue <= now { checkTimers(now) }
    handOver()
    return nextDue
  }

  /// Last in a turn: all who waited for it are woken together, instead of running in its midst one by one.
  func handOver() {
    for exchange in dirty { handOver(exchange) }
    dirty.removeAll(keepingCapacity: true)
  }

  private func checkTimers(_ now: Int64) {
    for exchange in Array(active.values) { checkTimers(exchange, now) }
    nextDue = active.values.reduce(.max) { min($0, due($1)) }
    guard waiting.count > 0 else { return }
    for exchange in waiting.items where exchange.stage == .waiting {
      if exchange.order.deadline <= now {
        abandon(exchange, CurlFailure(.timedOut, timer: .whole))
      } else {
        nextDue = min(nextDue, exchange.order.deadline)
      }
    }
    waiting.removeAll { $0.stage == .done }
  }

  private func checkTimers(_ exchange: CurlExchange, _ now: Int64) {
    let order = exchange.order
    if order.deadline <= now { return timeOut(exchange, .whole) }
    if exchange.winner == nil {
      if exchange.startedAt + order.connectTimeout <= now { return timeOut(exchange, .connect) }
      step(exchange, now)
    } else if !exchange.isHeadComplete, exchange.movedAt + order.firstByteTimeout <= now {
      timeOut(exchange, .firstByte)
    }
  }

  /// When something has to be done about an exchange, if nothing happens before.
  func due(_ exchange: CurlExchange) -> Int64 {
    let order = exchange.order
    if exchange.winner == nil {
      return min(order.deadline, exchange.startedAt + order.connectTimeout, exchange.race?.nextStart ?? .max)
    }
    return exchange.isHeadComplete ? order.deadline : min(order.deadline, exchange.movedAt + order.firstByteTimeout)
  }

  func abandon(_ exchange: CurlExchange, _ failure: CurlFailure) {
    exchange.stage = .done
    exchange.deliver(end: .failure(failure))
  }
}
