// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl
internal import DequeModule

/// Sends DNS requests over pools of connections: each pool has a limit in flight, and queues the others in order.
final class CurlQueries: CurlDriver {
  enum Command { case start(CurlJob), cancel(CurlJob) }

  private let multi: CurlMulti
  let multis: [CurlMulti]
  var now = LoopTime.now
  var recheck = CurlRecheck()
  private(set) var pools: [ObjectIdentifier: Pool] = [:]
  /// The pool that was used last, which is usually the next one too.
  private var lastPool: Pool?
  private var runningCount = 0
  /// Requests that have ended, and have yet to be given back.
  private var done: [CurlJob] = []
  /// No running transfer times out before this instant.
  var earliestEnd = Int64.max
  let sockets: CurlSockets
  /// Whether any request races for a connection.
  var isRacing = false
  /// Kept connections that carry one transfer at a time.
  var serial: Set<curl_socket_t> = []
  /// How many transfers were started, and have sent nothing yet.
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

  /// libcurl has one limit for all servers: it is set to what the largest pool needs; other pools stay below by
  /// ``Pool/width``.
  func limitConnections() {
    let limit = pools.values.map(\.connectionLimit).max() ?? Self.fewConnections
    multi.set(CURLMOPT_MAX_HOST_CONNECTIONS, limit)
    multi.set(CURLMOPT_MAXCONNECTS, max(64, limit * 2))
  }

  var isBusy: Bool { runningCount > 0 }

  var isEmpty: Bool { !isBusy && pools.values.allSatisfy(\.queue.isEmpty) }

  func takeSocketsToCork() -> [curl_socket_t] {
    defer { startCount = 0 }
    return startCount > 1 ? Array(sockets.open) : []
  }

  func stop() {
    for pool in pools.values {
      for easy in pool.handles {
        guard let job = easy.job.take() else { continue }
        multi.remove(easy.handle)
        // It may have several attempts.
        if job.stage == .running { finish(job, .failure(.shutDown)) }
      }
      for job in pool.queue where job.stage == .queued { finish(job, .failure(.shutDown)) }
    }
    deliverDone()
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
      case .queued: finish(job, .failure(.cancelled))  // skipped when its turn in the queue comes
      case .running:
        let pool = pool(of: job)
        guard let easy = pool.handles.first(where: { $0.job === job }) else { return }
        end(job, by: easy, in: pool, .failure(.cancelled))
      }
    }
  }

  func finish(_ job: CurlJob, _ result: Result<HTTPReply, HTTPTransportError>) {
    job.finish(result)
    done.append(job)
  }

  /// Gives ended requests back, all those of a recipient together; there is nearly always only one recipient.
  func deliverDone() {
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

  func pool(of job: CurlJob) -> Pool {
    if let lastPool, lastPool.identity === job.request.pool { return lastPool }
    let pool = knownPool(of: job.request.pool)
    lastPool = pool
    return pool
  }

  private func knownPool(of identity: QueryPool) -> Pool {
    if let pool = pools[ObjectIdentifier(identity)] { return pool }
    // A new pool may replace others of the same origin, which had other addresses or settings.
    pools = pools.filter { _, pool in
      pool.identity.origin != identity.origin || pool.running > 0 || !pool.queue.isEmpty
        || pool.usedAt > now - Self.idleTime
    }
    let pool = Pool(identity)
    pools[ObjectIdentifier(identity)] = pool
    limitConnections()
    return pool
  }

  /// How many milliseconds an unused pool stays beside others of its origin: as long as libcurl keeps a connection.
  private static let idleTime: Int64 = 120_000

  private func start(_ job: CurlJob, in pool: Pool) {
    job.stage = .running
    pool.usedAt = now
    if !start(job, in: pool, at: pool.addresses.first) { finish(job, .failure(.noMemory)) }
  }

  /// Starts an attempt of a request.
  ///
  /// - Returns: whether there was memory for it.
  func start(_ job: CurlJob, in pool: Pool, at address: IPAddress?, attempt: Int = 0) -> Bool {
    guard let easy = pool.idle.popLast() ?? newHandle(in: pool) else { return false }
    easy.job = job
    runningCount += 1
    startCount += 1
    begin(job, by: easy, at: address, attempt: attempt)
    return true
  }

  private func newHandle(in pool: Pool) -> CurlEasy? {
    guard let easy = CurlEasy(pool.identity, sockets: sockets) else { return nil }
    pool.handles.append(easy)
    return easy
  }

  private func begin(_ job: CurlJob, by easy: CurlEasy, at address: IPAddress?, attempt: Int) {
    easy.prepare(job.request)
    easy.connect(to: address)
    easy.begins(at: now, attempt: attempt)
    earliestEnd = min(earliestEnd, job.deadline)
    multi.add(easy.handle)
  }

  /// Sends a request once more, from the first address on.
  func sendAgain(_ job: CurlJob, by easy: CurlEasy, in pool: Pool) {
    multi.remove(easy.handle)
    job.race = nil
    begin(job, by: easy, at: pool.addresses.first, attempt: 0)
  }

  /// Ends an attempt; its handle serves another one.
  func release(_ easy: CurlEasy, in pool: Pool) {
    multi.remove(easy.handle)
    easy.job = nil
    runningCount -= 1
    pool.idle.append(easy)
  }

  func end(_ job: CurlJob, by easy: CurlEasy, in pool: Pool, _ result: Result<HTTPReply, HTTPTransportError>) {
    release(easy, in: pool)
    if job.race.take() != nil {
      for other in pool.handles where other.job === job { release(other, in: pool) }
    }
    finish(job, result)
    while pool.running < pool.width, let next = pool.queue.popFirst() {
      guard next.stage == .queued else { continue }
      start(next, in: pool)
    }
  }
}
