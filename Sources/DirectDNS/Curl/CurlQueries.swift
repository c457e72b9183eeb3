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
    var idle: [CurlEasy] = []
    var running = 0
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
  var now = CurlTime.now
  var runsTasks = false
  private var pools: [ObjectIdentifier: Pool] = [:]
  private var running: [ObjectIdentifier: (easy: CurlEasy, job: CurlJob)] = [:]
  /// No running transfer's time is over before this.
  private var earliestEnd = Int64.max
  private let sockets: CurlSockets
  /// Transfers that were started and have sent nothing yet.
  private var startCount = 0

  init(_ settings: (), multi: CurlMulti) {
    self.multi = multi
    multis = [multi]
    sockets = CurlSockets(events: multi.events)
    multi.sockets = sockets
    multi.sharesConnections = true
    limitConnections()
  }

  static let fewConnections = 8

  /// libcurl's limit holds for each server alike: it is what the pool with the most of them may have, and the others keep
  /// below it by their width.
  private func limitConnections() {
    let limit = pools.values.map(\.connectionLimit).max() ?? Self.fewConnections
    multi.set(CURLMOPT_MAX_HOST_CONNECTIONS, limit)
    multi.set(CURLMOPT_MAXCONNECTS, max(64, limit * 2))
  }

  var isBusy: Bool { !running.isEmpty }

  func takeCrowdedSockets() -> [curl_socket_t] {
    defer { startCount = 0 }
    return startCount > 1 ? Array(sockets.open) : []
  }

  func stop() {
    for (easy, job) in running.values {
      unsafe multi.remove(easy.handle)
      job.finish(.failure(.shutDown))
    }
    for pool in pools.values { for job in pool.queue where job.stage == .queued { job.finish(.failure(.shutDown)) } }
  }

  func carryOut(_ command: Command) {
    switch command {
    case .start(let job):
      guard !job.isCancelled else { return job.finish(.failure(.cancelled)) }
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
      case .queued: job.finish(.failure(.cancelled))  // its place in the queue is passed over
      case .running:
        guard let easy = running.values.first(where: { $0.job === job })?.easy else { return }
        end(easy, .failure(.cancelled))
      }
    }
  }

  private func pool(of job: CurlJob) -> Pool {
    let key = ObjectIdentifier(job.request.pool)
    if let pool = pools[key] { return pool }
    // An origin that is asked elsewhere now: what served it before is not needed any more.
    pools = pools.filter { _, pool in
      pool.identity.origin != job.request.pool.origin || pool.running > 0 || !pool.queue.isEmpty
    }
    let pool = Pool(job.request.pool)
    pools[key] = pool
    limitConnections()
    return pool
  }

  private func start(_ job: CurlJob, in pool: Pool) {
    guard let easy = pool.idle.popLast() ?? CurlEasy(job.request.pool, sockets: sockets) else {
      return job.finish(.failure(.invalidRequest("libcurl has no memory for a transfer")))
    }
    job.stage = .running
    pool.running += 1
    running[ObjectIdentifier(easy)] = (easy, job)
    startCount += 1
    send(job, by: easy)
  }

  private func send(_ job: CurlJob, by easy: CurlEasy) {
    easy.prepare(job.request)
    earliestEnd = min(earliestEnd, job.deadline)
    unsafe multi.add(easy.handle)
  }

  private func end(_ easy: CurlEasy, _ result: Result<CurlResponse, CurlError>) {
    unsafe multi.remove(easy.handle)
    guard let (_, job) = running.removeValue(forKey: ObjectIdentifier(easy)) else { return }
    let pool = pool(of: job)
    pool.running -= 1
    pool.idle.append(easy)
    job.finish(result)
    while pool.running < pool.width, let next = pool.queue.popFirst() {
      guard next.stage == .queued else { continue }
      start(next, in: pool)
    }
  }

  func ended(_ handle: UnsafeMutableRawPointer, _ code: CURLcode) {
    guard let easy = unsafe CurlEasy.object(of: handle), let job = running[ObjectIdentifier(easy)]?.job else { return }
    if code == CURLE_OK {
      let response = easy.response(job.request.wantedFields)
      let pool = pool(of: job)
      if pool.isSerial != (response.httpVersion < 2) {
        pool.isSerial.toggle()
        limitConnections()
      }
      end(easy, .success(response))
    } else if code == CURLE_HTTP2, !job.isRepeated {
      // The server has ended the session. libcurl repeats by itself what was refused with it, but before 8.4 not
      // for the transfer that has read the GOAWAY (curl#12054). A DNS query may be repeated (RFC 9110 §9.2.2).
      job.isRepeated = true
      unsafe multi.remove(handle)
      send(job, by: easy)
    } else {
      end(easy, .failure(easy.failure(code)))
    }
  }

  /// Ends what takes too long, and what waited too long.
  func settle() -> Int64 {
    // Not left to libcurl, which can drop a transfer's timers unserved (see ``CurlPatience/secondLook``).
    if earliestEnd <= now {
      for (easy, job) in running.values where job.deadline <= now { end(easy, .failure(.timedOut)) }
      earliestEnd = running.values.reduce(.max) { min($0, $1.job.deadline) }
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
        for job in pool.queue where job.stage == .queued && job.deadline <= now { job.finish(.failure(.timedOut)) }
        pool.queue.removeAll { $0.stage != .queued }
        pool.earliestDeadline = pool.queue.map(\.deadline).min() ?? .max
      }
      due = min(due, pool.earliestDeadline)
    }
    return due
  }
}
