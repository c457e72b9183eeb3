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
  private var pools: [ObjectIdentifier: Pool] = [:]
  /// The pool that was used last, which is usually the next one too.
  private var lastPool: Pool?
  private var runningCount = 0
  /// Requests that have ended, and have yet to be given back.
  private var done: [CurlJob] = []
  /// No running transfer times out before this instant.
  private var earliestEnd = Int64.max
  private let sockets: CurlSockets
  /// Kept connections that carry one transfer at a time.
  private var serial: Set<curl_socket_t> = []
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
  private func limitConnections() {
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
        finish(job, .failure(.shutDown))
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

  private func finish(_ job: CurlJob, _ result: Result<HTTPReply, HTTPTransportError>) {
    job.finish(result)
    done.append(job)
  }

  /// Gives ended requests back, all those of a recipient together; there is nearly always only one recipient.
  private func deliverDone() {
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
    // A new pool replaces older ones of the same origin, which had other addresses or settings.
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
      // The server has ended the session. libcurl repeats the transfers that were refused by that, but before 8.4 not
      // the one that has read the GOAWAY (curl#12054). A DNS query may be repeated (RFC 9110 §9.2.2).
      job.isRepeated = true
      multi.remove(easy.handle)
      send(job, by: easy)
    } else {
      end(job, by: easy, in: pool, .failure(easy.failure(code)))
    }
  }

  /// Ends an HTTP/1 connection on which the server sends something unsolicited: it would be taken for the answer to the
  /// next query (RFC 9112 §6.3), and not every format repeats the question.
  func receivedUnsolicited(on socket: CInt) {
    if serial.contains(socket) { directdns_end_unread(socket) }
  }

  /// Ends transfers that have timed out, and gives back those that have ended.
  func endTurn() -> Int64 {
    // Not left to libcurl, which can lose timers (see ``CurlRecheck``).
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
        // Deadlines are not in the order of the queue.
        for job in pool.queue where job.stage == .queued && job.deadline <= now { finish(job, .failure(.timedOut)) }
        pool.queue.removeAll { $0.stage != .queued }
        pool.earliestDeadline = pool.queue.map(\.deadline).min() ?? .max
      }
      due = min(due, pool.earliestDeadline)
    }
    deliverDone()
    return due
  }
}
