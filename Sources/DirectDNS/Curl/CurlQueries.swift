// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl
internal import DequeModule

/// DNS requests in pools: so many in flight, the others in the order of their arrival.
final class CurlQueries: CurlDriver {
  enum Command { case start(CurlJob), cancel(CurlJob) }

  /// The transfers of one pool: running ones, waiting ones, and handles that are free.
  private final class Pool {
    /// Kept, so that its identity is not given to another one.
    let identity: QueryPool
    var queue = Deque<CurlJob>()
    /// No waiting transfer's time is over before this.
    var earliestDeadline = Int64.max
    /// All of its handles, those included that are free.
    var handles: [CurlEasy] = []
    var idle: [CurlEasy] = []
    var running: Int { handles.count - idle.count }
    /// Whether its connections carry one transfer at a time: known of plain http, and of TLS from the first response on.
    var isSerial: Bool

    init(_ identity: QueryPool) {
      self.identity = identity
      isSerial = !identity.usesTLS
    }

    /// How many transfers may be in flight.
    var width: Int { isSerial ? identity.connections : identity.width }

    /// How many connections it may have.
    ///
    /// Over HTTP/2 one is enough for most servers; above their limit of streams libcurl opens another one.
    var connectionLimit: Int { isSerial ? identity.connections : min(CurlQueries.fewConnections, identity.connections) }
  }

  private let multi: CurlMulti
  let multis: [CurlMulti]
  var now = LoopTime.now
  var recheck = CurlRecheck()
  private var pools: [ObjectIdentifier: Pool] = [:]
  /// The pool that was looked for last: mostly the next one too.
  private var lastPool: Pool?
  private var runningCount = 0
  /// Requests that are done, and not yet handed back.
  private var done: [CurlJob] = []
  /// No running transfer's time is over before this.
  private var earliestEnd = Int64.max
  private let sockets: CurlSockets
  /// Connections that are kept, and carry one transfer at a time.
  private var serial: Set<curl_socket_t> = []
  /// Transfers that were started and have sent nothing yet.
  private var startCount = 0

  init?(_ settings: (), poller: Poller) {
    guard let multi = CurlMulti(index: 0, poller: poller) else { return nil }
    self.multi = multi
    multis = [multi]
    sockets = CurlSockets(poller: poller)
    multi.sockets = sockets
    multi.sharesConnections = true
    limitConnections()
    sockets.closing = { [unowned self] in serial.remove($0) }
  }

  static let fewConnections = 8

  /// libcurl's limit holds for each server alike: it is what the pool with the most of them may have, and the others keep
  /// below it by their width.
  private func limitConnections() {
    let limit = pools.values.map(\.connectionLimit).max() ?? Self.fewConnections
    multi.set(CURLMOPT_MAX_HOST_CONNECTIONS, limit)
    multi.set(CURLMOPT_MAXCONNECTS, max(64, limit * 2))
  }

  var isBusy: Bool { runningCount > 0 }

  func takeSocketsToCork() -> [curl_socket_t] {
    defer { startCount = 0 }
    return startCount > 1 ? Array(sockets.open) : []
  }

  func stop() {
    for pool in pools.values {
      for easy in pool.handles {
        guard let job = easy.job.take() else { continue }
        multi.remove(easy.handle)
        finish(job, .failure(.shutDown))
      }
      for job in pool.queue where job.stage == .queued { finish(job, .failure(.shutDown)) }
    }
    handBack()
    sockets.closing = nil
  }

  func carryOut(_ command: Command) {
    switch command {
    case .start(let job):
      guard !job.isCancelled else { return finish(job, .failure(.cancelled)) }
      let pool = pool(of: job)
      job.stage = .queued
      if pool.running < pool.width, pool.queue.isEmpty {
        start(job, in: pool)
      } else {
        pool.queue.append(job)
        pool.earliestDeadline = min(pool.earliestDeadline, job.deadline)
      }
    case .cancel(let job):
      job.isCancelled = true
      switch job.stage {
      case .new, .done: break
      case .queued: finish(job, .failure(.cancelled))  // its place in the queue is passed over
      case .running:
        let pool = pool(of: job)
        guard let easy = pool.handles.first(where: { $0.job === job }) else { return }
        end(job, by: easy, in: pool, .failure(.cancelled))
      }
    }
  }

  private func finish(_ job: CurlJob, _ result: Result<HTTPReply, HTTPTransportError>) {
    job.finish(result)
    done.append(job)
  }

  /// Hands back what is done: to each recipient at once, who is nearly always the only one.
  private func handBack() {
    guard !done.isEmpty else { return }
    var jobs: [CurlJob] = []
    swap(&jobs, &done)
    var rest = jobs[...]
    while let recipient = rest.first?.recipient {
      let own = rest.prefix { $0.recipient === recipient }
      rest = rest.dropFirst(own.count)
      recipient.receive(own)
    }
  }

  private func pool(of job: CurlJob) -> Pool {
    if let lastPool, lastPool.identity === job.request.pool { return lastPool }
    let pool = knownPool(of: job.request.pool)
    lastPool = pool
    return pool
  }

  private func knownPool(of identity: QueryPool) -> Pool {
    if let pool = pools[ObjectIdentifier(identity)] { return pool }
    // An origin that is asked elsewhere now: what served it before is not needed any more.
    pools = pools.filter { _, pool in
      pool.identity.origin != identity.origin || pool.running > 0 || !pool.queue.isEmpty
    }
    let pool = Pool(identity)
    pools[ObjectIdentifier(identity)] = pool
    limitConnections()
    return pool
  }

  private func start(_ job: CurlJob, in pool: Pool) {
    guard let easy = pool.idle.popLast() ?? newHandle(in: pool) else {
      return finish(job, .failure(.noMemory))
    }
    job.stage = .running
    easy.job = job
    runningCount += 1
    startCount += 1
    send(job, by: easy)
  }

  private func newHandle(in pool: Pool) -> CurlEasy? {
    guard let easy = CurlEasy(pool.identity, sockets: sockets) else { return nil }
    pool.handles.append(easy)
    return easy
  }

  private func send(_ job: CurlJob, by easy: CurlEasy) {
    easy.prepare(job.request)
    earliestEnd = min(earliestEnd, job.deadline)
    multi.add(easy.handle)
  }

  private func end(_ job: CurlJob, by easy: CurlEasy, in pool: Pool, _ result: Result<HTTPReply, HTTPTransportError>) {
    multi.remove(easy.handle)
    easy.job = nil
    runningCount -= 1
    pool.idle.append(easy)
    finish(job, result)
    while pool.running < pool.width, let next = pool.queue.popFirst() {
      guard next.stage == .queued else { continue }
      start(next, in: pool)
    }
  }

  func ended(_ handle: UnsafeMutableRawPointer, _ code: CURLcode) {
    guard let easy = unsafe CurlHandle.owner(of: handle, as: CurlEasy.self), let job = easy.job else { return }
    let pool = pool(of: job)
    if code == CURLE_OK {
      if pool.isSerial == easy.isHTTP2 {
        pool.isSerial.toggle()
        limitConnections()
      }
      if pool.isSerial { serial.insert(unsafe directdns_kept_socket(handle)) }
      end(job, by: easy, in: pool, .success(easy.takeReply()))
    } else if code == CURLE_HTTP2, !job.isRepeated {
      // The server has ended the session. libcurl repeats by itself what was refused with it, but before 8.4 not
      // for the transfer that has read the GOAWAY (curl#12054). A DNS query may be repeated (RFC 9110 §9.2.2).
      job.isRepeated = true
      multi.remove(easy.handle)
      send(job, by: easy)
    } else {
      end(job, by: easy, in: pool, .failure(easy.failure(code)))
    }
  }

  /// Ends a connection that says something over HTTP/1 when nothing was asked: it would be taken for the answer to the
  /// next query (RFC 9112 §6.3), and not every format names what it answers.
  func receivedUnasked(on socket: CInt) {
    if serial.contains(socket) { directdns_end_unread(socket) }
  }

  /// Ends what takes too long, and what waited too long; hands back what is done.
  func endTurn() -> Int64 {
    // Not left to libcurl, which can drop a transfer's timers unserved (see ``CurlRecheck``).
    if earliestEnd <= now {
      earliestEnd = .max
      for pool in pools.values {
        for easy in pool.handles {
          guard let job = easy.job else { continue }
          if job.deadline <= now {
            end(job, by: easy, in: pool, .failure(.timedOut))
          } else {
            earliestEnd = min(earliestEnd, job.deadline)
          }
        }
      }
    }
    var due = earliestEnd
    for pool in pools.values {
      while let first = pool.queue.first, first.stage != .queued { pool.queue.removeFirst() }
      guard !pool.queue.isEmpty else {
        pool.earliestDeadline = .max
        continue
      }
      if pool.earliestDeadline <= now {
        // Deadlines are not in the queue's order: a hasty transfer may stand behind patient ones.
        for job in pool.queue where job.stage == .queued && job.deadline <= now { finish(job, .failure(.timedOut)) }
        pool.queue.removeAll { $0.stage != .queued }
        pool.earliestDeadline = pool.queue.map(\.deadline).min() ?? .max
      }
      due = min(due, pool.earliestDeadline)
    }
    handBack()
    return due
  }
}
