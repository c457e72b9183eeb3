internal import CDirectDNSCurl
internal import DequeModule

/// What the loop's thread knows and does.
///
/// Nothing of it is seen by any other thread.
struct CurlThread: ~Copyable {
  /// The transfers of one lane: running ones, waiting ones, and handles that are free.
  private final class Lane {
    /// Kept, so that its identity is not given to another one.
    let identity: CurlLane
    var queue = Deque<CurlJob>()
    /// No waiting transfer's time is over before this.
    var earliestDeadline = Int64.max
    var idle: [CurlEasy] = []
    var running = 0

    init(_ identity: CurlLane) { self.identity = identity }
  }

  /// After so many milliseconds without an event, running transfers are looked at once more.
  ///
  /// A transfer that reads another one's response wakes it by a timer that is due at once. Before 8.16 libcurl can
  /// drop such timers unserved: `curl_multi_perform` drops what is due when it ends, by a clock that starting a
  /// transfer has set forward (curl#17883 did away with them). The response then lies in libcurl's own buffer, and
  /// its socket has nothing more to say.
  private static let secondLook: Int32 = 5

  private let mailbox: CurlMailbox
  private var lanes: [ObjectIdentifier: Lane] = [:]
  private var running: [ObjectIdentifier: (easy: CurlEasy, job: CurlJob)] = [:]
  private let sockets = CurlSockets()
  /// Transfers that were started and not performed yet.
  private var startCount = 0
  private var isStopping = false

  init(mailbox: CurlMailbox) { self.mailbox = mailbox }

  consuming func run() {
    guard let multi = unsafe mailbox.multi else { return }
    unsafe configure(multi)
    var commands: [CurlMailbox.Command] = []
    var isQuiet = false
    while true {
      mailbox.take(into: &commands)
      for command in commands { unsafe handle(command, multi) }
      commands.removeAll(keepingCapacity: true)
      if isStopping { break }
      var count: Int32 = 0
      let isBatch = startCount > 1
      startCount = 0
      if isBatch { sockets.cork(true) }
      unsafe curl_multi_perform(multi, &count)
      if isBatch { sockets.cork(false) }
      unsafe reap(multi)
      let patience = unsafe expireQueued(multi)
      let limit = running.isEmpty || isQuiet ? patience : min(patience, Self.secondLook)
      let quietFrom = CurlMailbox.milliseconds + Int64(limit)
      var ready: Int32 = 0
      unsafe curl_multi_poll(multi, nil, 0, limit, &ready)
      isQuiet = ready == 0 && CurlMailbox.milliseconds >= quietFrom
    }
    for (easy, job) in running.values {
      unsafe curl_multi_remove_handle(multi, easy.handle)
      job.finish(.failure(.shutDown))
    }
    for lane in lanes.values { for job in lane.queue where job.stage == .queued { job.finish(.failure(.shutDown)) } }
    mailbox.close()
    withExtendedLifetime(sockets) { unsafe _ = curl_multi_cleanup(multi) }
  }

  private func configure(_ multi: UnsafeMutableRawPointer) {
    // Above a server's stream limit libcurl opens further connections: never more than these.
    unsafe directdns_multi_setopt_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, 8)
    unsafe directdns_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, 64)
  }

  private mutating func handle(_ command: CurlMailbox.Command, _ multi: UnsafeMutableRawPointer) {
    switch command {
    case .start(let job):
      guard !job.isCancelled else { return job.finish(.failure(.cancelled)) }
      guard !isStopping else { return job.finish(.failure(.shutDown)) }
      let lane = lane(of: job)
      job.stage = .queued
      if lane.running < job.request.lane.width, lane.queue.isEmpty {
        unsafe start(job, in: lane, multi)
      } else {
        lane.queue.append(job)
        lane.earliestDeadline = min(lane.earliestDeadline, job.deadline)
      }
    case .cancel(let job):
      job.isCancelled = true
      switch job.stage {
      case .new, .done: break
      case .queued: job.finish(.failure(.cancelled))  // its place in the queue is passed over
      case .running:
        guard let easy = running.values.first(where: { $0.job === job })?.easy else { return }
        unsafe end(easy, .failure(.cancelled), multi)
      }
    case .stop:
      isStopping = true
    }
  }

  private mutating func lane(of job: CurlJob) -> Lane {
    let key = ObjectIdentifier(job.request.lane)
    if let lane = lanes[key] { return lane }
    // An origin that is asked elsewhere now: what served it before is not needed any more.
    lanes = lanes.filter { _, lane in
      lane.identity.origin != job.request.lane.origin || lane.running > 0 || !lane.queue.isEmpty
    }
    let lane = Lane(job.request.lane)
    lanes[key] = lane
    return lane
  }

  private mutating func start(_ job: CurlJob, in lane: Lane, _ multi: UnsafeMutableRawPointer) {
    guard let easy = lane.idle.popLast() ?? CurlEasy(job.request.lane, sockets: sockets) else {
      return job.finish(.failure(.invalidRequest("libcurl has no memory for a transfer")))
    }
    job.stage = .running
    lane.running += 1
    running[ObjectIdentifier(easy)] = (easy, job)
    startCount += 1
    unsafe send(job, by: easy, multi)
  }

  private func send(_ job: CurlJob, by easy: CurlEasy, _ multi: UnsafeMutableRawPointer) {
    easy.prepare(job.request, timeout: job.deadline - CurlMailbox.milliseconds)
    unsafe curl_multi_add_handle(multi, easy.handle)
  }

  private mutating func end(
    _ easy: CurlEasy, _ result: Result<CurlResponse, CurlError>, _ multi: UnsafeMutableRawPointer
  ) {
    unsafe curl_multi_remove_handle(multi, easy.handle)
    guard let (_, job) = running.removeValue(forKey: ObjectIdentifier(easy)) else { return }
    let lane = lane(of: job)
    lane.running -= 1
    lane.idle.append(easy)
    job.finish(result)
    while lane.running < job.request.lane.width, let next = lane.queue.popFirst() {
      guard next.stage == .queued else { continue }
      unsafe start(next, in: lane, multi)
    }
  }

  private mutating func reap(_ multi: UnsafeMutableRawPointer) {
    var left: Int32 = 0
    while let message = unsafe curl_multi_info_read(multi, &left) {
      guard unsafe message.pointee.msg == CURLMSG_DONE, let handle = unsafe message.pointee.easy_handle,
        let easy = unsafe CurlEasy.object(of: handle), let job = running[ObjectIdentifier(easy)]?.job
      else { continue }
      let code = unsafe message.pointee.data.result
      if code == CURLE_OK {
        unsafe end(easy, .success(easy.response(job.request.wantedFields)), multi)
      } else if code == CURLE_HTTP2, !job.isRepeated {
        // The server has ended the session. libcurl repeats by itself what was refused with it, but before 8.4 not
        // for the transfer that has read the GOAWAY (curl#12054). A DNS query may be repeated (RFC 9110 §9.2.2).
        job.isRepeated = true
        unsafe curl_multi_remove_handle(multi, handle)
        unsafe send(job, by: easy, multi)
      } else {
        unsafe end(easy, .failure(easy.isOverLimit ? .bodyTooLarge : CurlError(code, detail: easy.failureText)), multi)
      }
    }
  }

  /// Ends what waited too long, and says how long the thread may sleep, in milliseconds.
  private func expireQueued(_ multi: UnsafeMutableRawPointer) -> Int32 {
    var patience: Int64 = 60_000
    let now = CurlMailbox.milliseconds
    for lane in lanes.values {
      while let first = lane.queue.first, first.stage != .queued { lane.queue.removeFirst() }
      guard !lane.queue.isEmpty else {
        lane.earliestDeadline = .max
        continue
      }
      if lane.earliestDeadline <= now {
        // Deadlines are not in the queue's order: a hasty transfer may stand behind patient ones.
        for job in lane.queue where job.stage == .queued && job.deadline <= now { job.finish(.failure(.timedOut)) }
        lane.queue.removeAll { $0.stage != .queued }
        lane.earliestDeadline = lane.queue.map(\.deadline).min() ?? .max
      }
      patience = min(patience, max(0, lane.earliestDeadline - now))
    }
    return Int32(patience)
  }
}
