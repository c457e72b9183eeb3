internal import CDirectDNSCurl
internal import Dispatch

/// The exchanges of one loop: carries out what its ``PoolMachine`` decides, and tells it what libcurl does.
final class CurlExchanges: CurlDriver {
  typealias Machine = PoolMachine<CurlRoute>

  enum Command {
    case start(CurlExchange), cancel(CurlExchange)
    /// The addresses that an exchange's race asked for.
    case join(CurlExchange, [IPAddress])
    /// The reader has caught up, or the body has more.
    case resume(CurlExchange)
    /// The rest of the body is not wanted; so many bytes may still be read to keep the connection.
    case drain(CurlExchange, limit: Int)
    /// Connections to an address that is dead, or to all, are used no more.
    case closeIdle(IPAddress?)
  }

  let settings: CurlExchangeSettings
  private(set) var multis: [CurlMulti]
  var now = CurlTime.now
  /// Whether somebody has tasks run on the loop's thread.
  var runsTasks = false
  let sockets: CurlSockets
  private let share = CurlShare()
  var machine: Machine
  /// The exchanges that wait or run, at their transfers' places.
  private var exchanges: [CurlExchange?] = []
  private var idleAttempts: [CurlAttempt] = []
  /// Attempts whose handles free what they held back.
  private var emptying: [CurlAttempt] = []
  /// Pools with transfers that have sent nothing yet, and how many.
  private var started: [(pool: SlabID<Machine.Pool>, count: Int)] = []
  private var actions: [Machine.Action] = []
  /// Exchanges with something to hand over.
  private var due: [CurlExchange] = []

  init(_ settings: CurlExchangeSettings, multi: CurlMulti) {
    self.settings = settings
    machine = Machine(settings.limits)
    multis = [multi]
    sockets = CurlSockets(silenceLimit: 20_000, events: multi.events)
    configure(multi)
    sockets.closing = { [unowned self] in machine.closed($0) }
  }

  private func configure(_ multi: CurlMulti) {
    // Idle connections are closed to make room, the longest idle one first; ours is the queue, so none waits in libcurl.
    multi.set(CURLMOPT_MAX_TOTAL_CONNECTIONS, settings.limits.connections + Self.raceRoom)
    multi.set(CURLMOPT_MAXCONNECTS, settings.limits.connections)
    multi.set(CURLMOPT_MAX_CONCURRENT_STREAMS, settings.limits.streams)
    multi.sockets = sockets
  }

  /// Connections beyond the limit, for attempts that race.
  private static let raceRoom = 32

  var isBusy: Bool { machine.isBusy }

  func takeCrowdedSockets() -> [curl_socket_t] {
    var crowded: [curl_socket_t] = []
    for (pool, count) in started where count > 1 {
      crowded += machine.pools.read(pool) { $0.load.multiplexing == .always ? $0.sockets : [] } ?? []
    }
    started.removeAll(keepingCapacity: true)
    return crowded
  }

  func stop() {
    machine.stop()
    perform()
    handOver()
    idleAttempts = []
    emptying = []
    sockets.closing = nil
  }

  // MARK: Commands

  func carryOut(_ command: Command) {
    switch command {
    case .start(let exchange): start(exchange)
    case .cancel(let exchange):
      switch exchange.place {
      case .new: exchange.place = .cancelled
      case .pool(let id): machine.cancel(id)
      case .cancelled, .done: break
      }
    case .join(let exchange, let addresses): join(exchange, addresses)
    case .resume(let exchange): exchange.carrier?.resume()
    case .drain(let exchange, let limit):
      exchange.sink = .drain(left: limit)
      exchange.carrier?.resume()
    case .closeIdle(let address): machine.closeIdle(address)
    }
    perform()
  }

  private func start(_ exchange: CurlExchange) {
    guard case .new = exchange.place else {
      exchange.place = .done
      return exchange.deliver(end: .failure(TransferFailure(.cancelled))).resume()
    }
    let order = exchange.order
    let id = machine.start(order.terms, order.route, order.route.multiplexing, at: now)
    exchange.place = .pool(id)
    if id.index < exchanges.count { exchanges[id.index] = exchange } else { exchanges.append(exchange) }
  }

  /// Lets addresses take part in a race, as far as they may be dialled.
  private func join(_ exchange: CurlExchange, _ addresses: [IPAddress]) {
    guard case .pool(let id) = exchange.place else { return }
    let order = exchange.order
    machine.join(id, addresses.filter { order.policy.objection(to: $0, host: order.host) == nil }, at: now)
  }

  // MARK: Actions

  /// Carries out what was decided, and what follows from it.
  private func perform() {
    while !machine.actions.isEmpty {
      swap(&actions, &machine.actions)
      for action in actions { perform(action) }
      actions.removeAll(keepingCapacity: true)
    }
  }

  private func perform(_ action: Machine.Action) {
    switch action {
    case .connect(let id, let number, let address, let waits): connect(id, number, address, waits)
    case .close(let id, let number): close(id, number)
    case .askForOthers(let id):
      guard let exchange = exchanges[id.index] else { break }
      if let known = exchange.order.others?.ask() { join(exchange, known) } else { machine.step(id, at: now) }
    case .tell(let id, let address, let error): exchanges[id.index]?.order.observer?(.failed(address, error))
    case .startOver(let id):
      guard let exchange = exchanges[id.index] else { break }
      exchange.carrier = nil
      exchange.lines.startOver()
      if case .pulled(let upload) = exchange.order.body { _ = upload.restart() }
    case .ask(let id, let number):
      guard let attempt = attempt(id, number), let multi = attempt.multi, attempt.askForRefusal(multi) else {
        return machine.asked(id, wasRefused: false)
      }
    case .end(let id, let result): end(id, result)
    case .endConnection(let socket): directdns_end(socket)
    }
  }

  private func attempt(_ id: Machine.TransferID, _ number: Int) -> CurlAttempt? {
    exchanges[id.index]?.attempts.first { $0.number == number }
  }

  private func connect(_ id: Machine.TransferID, _ number: Int, _ address: IPAddress?, _ waits: Bool) {
    guard let exchange = exchanges[id.index], let pool = machine.transfers.read(id, { $0.pool }) else { return }
    guard let attempt = newAttempt(in: pool) else {
      let failure = TransferError.invalidRequest("libcurl has no memory for a transfer")
      return machine.ended(id, attempt: number, .failed(failure), at: now)
    }
    attempt.prepare(exchange, id, in: pool, number: number, address: address, waits: waits, settings, share, sockets)
    exchange.attempts.append(attempt)
    if let place = started.lastIndex(where: { $0.pool == pool }) {
      started[place].count += 1
    } else {
      started.append((pool, 1))
    }
    attempt.start(on: multi(machine.pools.read(pool) { $0.place } ?? 0))
  }

  /// The handle that keeps the connections of so manieth place.
  private func multi(_ place: Int) -> CurlMulti {
    if place == multis.count, let multi = CurlMulti(index: UInt8(place), events: multis[0].events) {
      configure(multi)
      multis.append(multi)
    }
    return multis[min(place, multis.count - 1)]
  }

  /// A handle for one more attempt, one that is set up for the pool if there is one; nil if libcurl has no memory for it.
  private func newAttempt(in pool: SlabID<Machine.Pool>) -> CurlAttempt? {
    if let place = idleAttempts.lastIndex(where: { $0.pool == pool }) { return idleAttempts.remove(at: place) }
    return idleAttempts.popLast() ?? CurlAttempt(events: self)
  }

  /// Ends an attempt, and keeps its handle for the next one.
  private func close(_ id: Machine.TransferID, _ number: Int) {
    guard let exchange = exchanges[id.index], let attempt = attempt(id, number) else { return }
    exchange.attempts.removeAll { $0 === attempt }
    if case .done = exchange.place, exchange.attempts.isEmpty { exchanges[id.index] = nil }
    guard attempt.stop() else {
      emptying.append(attempt)
      return
    }
    if attempt.isClean, idleAttempts.count < Self.idleAttemptLimit { idleAttempts.append(attempt) }
  }

  /// Handles that are kept, at some 25 KB each.
  private static let idleAttemptLimit = 128

  /// A handle has freed what it held back.
  func emptied(_ attempt: CurlAttempt) { emptying.removeAll { $0 === attempt } }

  private func end(_ id: Machine.TransferID, _ result: Result<Void, TransferFailure>) {
    guard let exchange = exchanges[id.index] else { return }
    exchange.handover.end = result.map { CurlEnd(trailers: exchange.lines.trailers) }.mapError { failure in
      guard case .pulled(let upload) = exchange.order.body else { return failure }
      var failure = failure
      failure.bodyFailure = upload.failure
      return failure
    }
    reportProgress(exchange, isLast: true)
    if case .pulled(let upload) = exchange.order.body { upload.stop() }
    exchange.carrier = nil
    exchange.place = .done
    if exchange.attempts.isEmpty { exchanges[id.index] = nil }
    noteHandover(exchange)
  }

  // MARK: The end of a turn

  func settle() -> Int64 {
    var due = machine.settle(at: now)
    while !machine.actions.isEmpty {
      perform()
      due = machine.settle(at: now)
    }
    handOver()
    return due
  }

  /// Carries out what follows from something that libcurl told while it was not calling.
  func act(_ tell: (inout Machine) -> Void) {
    tell(&machine)
    perform()
  }

  func noteHandover(_ exchange: CurlExchange) {
    guard !exchange.handover.isDue else { return }
    exchange.handover.isDue = true
    due.append(exchange)
  }

  /// Last in a turn: all who waited for it are resumed together, instead of running in its midst one by one.
  private func handOver() {
    var waiters: [CurlExchange.Waiters] = []
    for exchange in due {
      exchange.handover.isDue = false
      let (head, end) = (exchange.handover.head.take(), exchange.handover.end.take())
      if end == nil { reportProgress(exchange, isLast: false) }
      guard head != nil || end != nil || !exchange.incoming.isEmpty else { continue }
      let found = exchange.deliver(head: head, end: end)
      if !found.isEmpty { waiters.append(found) }
    }
    due.removeAll(keepingCapacity: true)
    resume(waiters)
  }

  /// Resumes tasks: many of them from the shared pool.
  ///
  /// A thread of the pool that is woken for the first of them may take the processor at once, and sleep again before the
  /// second one is resumed: two switches for each task. Tasks that run on this thread are best resumed here.
  private func resume(_ waiters: [CurlExchange.Waiters]) {
    guard waiters.count > 1, !runsTasks else {
      for waiter in waiters { waiter.resume() }
      return
    }
    DispatchQueue.global().async { for waiter in waiters { waiter.resume() } }
  }

  private func reportProgress(_ exchange: CurlExchange, isLast: Bool) {
    guard let report = exchange.order.progress, let carrier = exchange.carrier else { return }
    guard isLast || now - exchange.progressedAt >= Self.progressInterval else { return }
    exchange.progressedAt = now
    exchange.progress.expected = carrier.time(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
    report(exchange.progress)
  }

  /// Milliseconds from one report to the next.
  private static let progressInterval: Int64 = 100
}
