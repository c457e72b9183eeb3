// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// The transfers of one loop: carries out what its ``PoolMachine`` decides, and tells it what libcurl does.
final class CurlTransfers: CurlDriver {
  typealias Machine = PoolMachine<CurlRoute>

  enum Command {
    case start(CurlTransfer), cancel(CurlTransfer)
    /// The addresses that a transfer's race asked for.
    case join(CurlTransfer, [IPAddress])
    /// The reader has caught up, or the body has more.
    case resume(CurlTransfer)
    /// The rest of the body is not wanted; so many bytes may still be read to keep the connection.
    case drain(CurlTransfer, limit: Int)
    /// Connections to an address that is dead, or to all, are used no more.
    case closeIdle(IPAddress?)
  }

  let settings: CurlTransferSettings
  private(set) var multis: [CurlMulti]
  var now = LoopTime.now
  var recheck = CurlRecheck()
  let sockets: CurlSockets
  private let share = CurlShare()
  var machine: Machine
  /// The transfers that wait or run, at their places in the machine, and their attempts.
  private(set) var running: [(transfer: CurlTransfer?, attempts: [ConnectAttempt])] = []
  /// Attempts that serve no transfer.
  var idleAttempts = IdleAttempts()
  /// Pools with transfers that have sent nothing yet, and how many.
  private var started: [(pool: SlabID<Machine.Pool>, count: Int)] = []
  private var actions: [Machine.Action] = []
  /// What is to be delivered to the tasks that wait, at the end of the turn.
  var deliveries = PendingDeliveries()
  /// Transfers whose response is whole while their request's body may not be.
  var earlyAnswers = EarlyAnswers<Machine.TransferID>()
  /// Transfers that wait for more of their request's body although the response has begun, and when to look whether
  /// libcurl still wants it.
  var starvedUploads = TimerQueue<Machine.TransferID, Int64>()

  init?(_ settings: CurlTransferSettings, poller: Poller) {
    guard let multi = CurlMulti(index: 0, poller: poller) else { return nil }
    self.settings = settings
    machine = Machine(settings.limits)
    multis = [multi]
    sockets = CurlSockets(silenceLimit: Self.silenceLimit, poller: poller)
    configure(multi)
    sockets.closing = { [unowned self] in machine.closed($0) }
  }

  private func configure(_ multi: CurlMulti) {
    // Idle connections are closed to make room, the longest idle one first; ours is the queue, so none waits in libcurl.
    multi.set(CURLMOPT_MAX_TOTAL_CONNECTIONS, settings.limits.connections + Self.raceRoom)
    // They must not take what connections to other servers need, nor the rest of the process.
    multi.set(CURLMOPT_MAXCONNECTS, min(settings.limits.connections, max(8, directdns_file_limit() / 4)))
    multi.set(CURLMOPT_MAX_CONCURRENT_STREAMS, settings.limits.streams)
    multi.sockets = sockets
  }

  /// Milliseconds for which a connection's bytes may stay unacknowledged.
  static let silenceLimit: UInt32 = 20_000

  /// Connections beyond the limit, for attempts that race.
  private static let raceRoom = 32

  var isBusy: Bool { machine.isBusy }

  func willRunTasks() { deliveries.willRunTasks() }

  func takeSocketsToCork() -> [curl_socket_t] {
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
    deliveries.deliver(at: now)
    idleAttempts = IdleAttempts()
    sockets.closing = nil
  }

  // MARK: Commands

  func carryOut(_ command: Command) {
    switch command {
    case .start(let transfer): start(transfer)
    case .cancel(let transfer):
      switch transfer.place {
      case .new: transfer.place = .cancelled
      case .pool(let id): machine.cancel(id)
      case .cancelled, .done: break
      }
    case .join(let transfer, let addresses): join(transfer, addresses)
    case .resume(let transfer):
      if case .pool(let id) = transfer.place { machine.resumed(id, at: now) }
      transfer.carrier?.resume()
    case .drain(let transfer, let limit):
      transfer.sink = .drain(left: limit)
      if case .pool(let id) = transfer.place { machine.hasten(id, until: now + Self.drainTime) }
      transfer.carrier?.resume()
    case .closeIdle(let address): machine.closeIdle(address)
    }
    perform()
  }

  private func start(_ transfer: CurlTransfer) {
    guard case .new = transfer.place else {
      transfer.place = .done
      return transfer.deliver(end: .failure(TransferFailure(.cancelled))).resume()
    }
    let request = transfer.request
    let id = machine.start(request.terms, request.route, request.route.multiplexing, at: now)
    transfer.place = .pool(id)
    if id.index < running.count { running[id.index].transfer = transfer } else { running.append((transfer, [])) }
  }

  /// Lets addresses take part in a race, as far as they may be dialled.
  private func join(_ transfer: CurlTransfer, _ addresses: [IPAddress]) {
    guard case .pool(let id) = transfer.place else { return }
    let request = transfer.request
    machine.join(id, addresses.filter { request.policy.objection(to: $0, host: request.host) == nil }, at: now)
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
      guard let transfer = running[id.index].transfer else { break }
      if let known = transfer.request.others?.ask() { join(transfer, known) } else { machine.step(id, at: now) }
    case .report(let id, let address, let error): running[id.index].transfer?.request.observer?(.failed(address, error))
    case .startOver(let id):
      guard let transfer = running[id.index].transfer else { break }
      transfer.carrier = nil
      transfer.progress.sent = 0
      if case .pulled(let upload) = transfer.request.body { _ = upload.restart() }
    case .checkRefusal(let id, let number):
      guard let attempt = attempt(id, number), let multi = attempt.multi, attempt.checkRefusal(multi) else {
        return machine.checked(id, wasRefused: false)
      }
    case .end(let id, let result): end(id, result)
    case .endConnection(let socket): directdns_end(socket)
    }
  }

  private func attempt(_ id: Machine.TransferID, _ number: Int) -> ConnectAttempt? {
    running[id.index].attempts.first { $0.number == number }
  }

  private func connect(_ id: Machine.TransferID, _ number: Int, _ address: IPAddress?, _ waits: Bool) {
    guard let transfer = running[id.index].transfer, let pool = machine.transfers.read(id, { $0.pool }) else { return }
    guard let attempt = idleAttempts.take(for: pool) ?? ConnectAttempt(events: self) else {
      return machine.ended(id, attempt: number, .failed(.noMemory), at: now)
    }
    let (cache, scope) = machine.pools.read(pool) { ($0.cache, $0.number) } ?? (0, 0)
    attempt.prepare(
      transfer, id, in: pool, scope: scope, number: number, address: address, waits: waits, settings, share, sockets)
    running[id.index].attempts.append(attempt)
    if let place = started.lastIndex(where: { $0.pool == pool }) {
      started[place].count += 1
    } else {
      started.append((pool, 1))
    }
    attempt.start(on: multi(cache))
  }

  /// Whether a connection carries a transfer that holds back what it has until its reader has caught up.
  ///
  /// libcurl then waits for nothing of the connection, as of one that nobody uses.
  func isHeldBack(_ socket: curl_socket_t) -> Bool {
    let port = directdns_local_port(socket)
    return running.contains { $0.attempts.contains { $0.isHeldBack(at: port) } }
  }

  /// The multi handle that has that connection cache.
  private func multi(_ cache: Int) -> CurlMulti {
    if cache == multis.count, let multi = CurlMulti(index: UInt8(cache), poller: multis[0].poller) {
      configure(multi)
      multis.append(multi)
    }
    return multis[min(cache, multis.count - 1)]
  }

  /// Ends an attempt, and keeps its handle for the next one.
  private func close(_ id: Machine.TransferID, _ number: Int) {
    guard let transfer = running[id.index].transfer, let attempt = attempt(id, number) else { return }
    running[id.index].attempts.removeAll { $0 === attempt }
    if case .done = transfer.place, running[id.index].attempts.isEmpty { running[id.index].transfer = nil }
    // Before the change, not within it: libcurl calls back.
    let isEmpty = attempt.stop()
    idleAttempts.add(attempt, isEmpty: isEmpty)
  }

  /// Milliseconds that the rest of a body may take which nobody reads: a new connection would take no longer.
  private static let drainTime: Int64 = 500

  private func end(_ id: Machine.TransferID, _ result: Result<Void, TransferFailure>) {
    guard let transfer = running[id.index].transfer else { return }
    transfer.pending.end = result.map { TransferEnd(trailers: transfer.carrier?.lines?.trailers ?? []) }.mapError {
      failure in
      guard case .pulled(let upload) = transfer.request.body else { return failure }
      var failure = failure
      failure.bodyFailure = upload.failure
      return failure
    }
    transfer.reportProgress(at: now, isLast: true)
    if case .pulled(let upload) = transfer.request.body { upload.stop() }
    transfer.carrier = nil
    transfer.place = .done
    if running[id.index].attempts.isEmpty { running[id.index].transfer = nil }
    deliveries.add(transfer)
  }

  // MARK: The end of a turn

  func endTurn() -> Int64 {
    for id in earlyAnswers.takeStuck(at: now, sent: sentOf, waits: isWaitingToSend) {
      act { $0.finish(id, .success(())) }
    }
    lookAtStarvedUploads()
    var due = min(machine.endTurn(at: now), earlyAnswers.due)
    while !machine.actions.isEmpty {
      perform()
      due = min(machine.endTurn(at: now), earlyAnswers.due)
    }
    deliveries.deliver(at: now)
    return min(due, starvedUploads.next() ?? .max)
  }

  /// Has libcurl go on with those that wait for their body: where the server's answer has ended the request, its
  /// transfer ends then, and elsewhere it waits again.
  private func lookAtStarvedUploads() {
    while let id = starvedUploads.takeDue(at: now) {
      guard machine.transfers.read(id, { $0.state.isStarved }) == true else { continue }
      running[id.index].transfer?.carrier?.resumeSending()
    }
  }

  /// How much of its body a transfer has sent; nil once it is over.
  private func sentOf(_ id: Machine.TransferID) -> Int64? {
    machine.transfers.read(id) { _ in () } == nil ? nil : running[id.index].transfer?.progress.sent
  }

  /// Carries out what follows from something that libcurl told while it was not calling.
  func act(_ tell: (inout Machine) -> Void) {
    tell(&machine)
    perform()
  }
}
