// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// The transfers of one loop: carries out the actions of its ``PoolMachine``, and tells it what libcurl does.
final class CurlTransfers: CurlDriver {
  typealias Machine = PoolMachine<CurlRoute>

  enum Command {
    case start(CurlTransfer), cancel(CurlTransfer)
    /// Addresses that a transfer's race has asked for.
    case join(CurlTransfer, [IPAddress])
    /// The reader of the response has caught up, or the request's body has more to send.
    case resume(CurlTransfer)
    /// The rest of the body is not wanted; up to `limit` bytes may be read in order to keep the connection.
    case drain(CurlTransfer, limit: Int)
    /// Idle connections to an address, or to all addresses, are to be closed.
    case closeIdle(IPAddress?)
  }

  let settings: CurlTransferSettings
  var multis: [CurlMulti]
  var now = LoopTime.now
  var recheck = CurlRecheck()
  let sockets: CurlSockets
  let share = CurlShare()
  var machine: Machine
  /// The transfers that wait or run, and their attempts, by the index of their ids.
  var running: [(transfer: CurlTransfer?, attempts: [ConnectAttempt])] = []
  var idleAttempts = IdleAttempts()
  /// How many transfers of each pool were started, and have sent nothing yet.
  var started: [(pool: SlabID<Machine.Pool>, count: Int)] = []
  /// What is to be delivered to the tasks that wait, at the end of the turn.
  var deliveries: PendingDeliveries

  init?(_ settings: CurlTransferSettings, poller: Poller, resumption: TaskResumption) {
    guard let multi = CurlMulti(index: 0, poller: poller) else { return nil }
    self.settings = settings
    machine = Machine(settings.limits)
    deliveries = PendingDeliveries(resumption: resumption)
    multis = [multi]
    sockets = CurlSockets(silenceLimit: Self.silenceLimit, poller: poller)
    configure(multi)
    // The sockets are this object's own.
    sockets.closing = { [unowned self] in machine.closed($0) }
  }

  func configure(_ multi: CurlMulti) {
    // Never reached: of each connection that libcurl closes to make room, versions before 8.10 keep an entry, and go
    // through all of them at the end of each transfer. The pool has the queue, and makes room.
    let most = keptLimit + settings.limits.connections + Self.raceRoom
    multi.set(CURLMOPT_MAX_TOTAL_CONNECTIONS, most)
    multi.set(CURLMOPT_MAXCONNECTS, most)
    multi.set(CURLMOPT_MAX_CONCURRENT_STREAMS, settings.limits.streams)
    multi.sockets = sockets
  }

  /// How many milliseconds sent bytes may stay unacknowledged before the kernel ends the connection.
  static let silenceLimit: UInt32 = 20_000

  /// So many open connections may be kept behind their transfers: idle ones must leave file descriptors to the rest of
  /// the process.
  ///
  /// Among them are those that the pool has ended: libcurl closes these when it looks for them, once a second.
  var keptLimit: Int { min(settings.limits.connections + Self.raceRoom, max(8, directdns_file_limit() / 4)) }

  /// Connections beyond the limit, for attempts that race.
  private static let raceRoom = 32

  var isBusy: Bool { machine.isBusy }

  var isEmpty: Bool { machine.isEmpty }

  func takeSocketsToCork() -> [curl_socket_t] {
    var crowded: [curl_socket_t] = []
    for (pool, count) in started where count > 1 {
      crowded += machine.sharedSockets(of: pool)
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
      if let carrier = transfer.carrier { endIfFailed(carrier, carrier.resume()) }
    case .drain(let transfer, let limit):
      transfer.sink = .drain(left: limit)
      if case .pool(let id) = transfer.place { machine.shortenDeadline(id, until: now + Self.drainTime) }
      if let carrier = transfer.carrier { endIfFailed(carrier, carrier.resume()) }
    case .closeIdle(let address): machine.closeIdle(address)
    }
    perform()
  }

  /// How many milliseconds the rest of an unwanted body may take: longer than that, a new connection is cheaper.
  private static let drainTime: Int64 = 500

  private func start(_ transfer: CurlTransfer) {
    guard case .new = transfer.place else {
      transfer.place = .done
      transfer.request.release()
      return transfer.deliver(end: .failure(TransferFailure(.cancelled))).resume()
    }
    let request = transfer.request
    let id = machine.start(request.terms, request.route, request.route.multiplexing, at: now)
    transfer.place = .pool(id)
    if id.index < running.count { running[id.index].transfer = transfer } else { running.append((transfer, [])) }
  }

  /// Adds addresses to a race, as far as the policy allows them.
  func join(_ transfer: CurlTransfer, _ addresses: [IPAddress]) {
    guard case .pool(let id) = transfer.place else { return }
    let request = transfer.request
    machine.join(id, addresses.filter { request.objection(to: $0) == nil }, at: now)
  }

  // MARK: The end of a turn

  func endTurn() -> Int64 {
    var due = machine.endTurn(at: now)
    while !machine.actions.isEmpty {
      perform()
      due = machine.endTurn(at: now)
    }
    deliveries.deliver(at: now)
    return due
  }
}

/// The settings that all transfers of a loop share.
struct CurlTransferSettings: Sendable {
  var trust: CurlTrust
  var certificate: String?
  var key: String?
  var keyPassword: String?
  var requiresTLS13: Bool
  var limits: PoolLimits
  /// How many bytes of a response's body may wait for the reader before the transfer is paused.
  var bufferSize: Int
}

/// Attempts whose handles serve no transfer at the moment, kept for the next ones.
struct IdleAttempts {
  /// The most handles that are kept, at some 25 KB each.
  ///
  /// Of several hundred transfers all may end before the first of their callers starts another one.
  private static let limit = 512

  private var idle: [ConnectAttempt] = []
  /// Those whose handles still have to free a piece of a body that they held back; see ``ConnectAttempt/stop()``.
  private var emptying: [ConnectAttempt] = []

  /// Takes one, if possible one that is set up for that pool already.
  ///
  /// - Returns: the attempt; nil if there is none.
  mutating func take(for pool: SlabID<CurlTransfers.Machine.Pool>) -> ConnectAttempt? {
    if let place = idle.lastIndex(where: { $0.pool?.id == pool }) { return idle.remove(at: place) }
    return idle.popLast()
  }

  /// Keeps an attempt that was stopped, if its handle can serve another transfer.
  ///
  /// - Parameters:
  ///   - attempt: the attempt.
  ///   - isEmpty: whether its handle holds back nothing of a body.
  mutating func add(_ attempt: ConnectAttempt, isEmpty: Bool) {
    guard isEmpty else { return emptying.append(attempt) }
    if attempt.isClean, idle.count < Self.limit { idle.append(attempt) }
  }

  /// A handle has freed what it held back; it is used no more.
  mutating func emptied(_ attempt: ConnectAttempt) { emptying.removeAll { $0 === attempt } }
}
