internal import CDirectDNSCurl
internal import Dispatch

/// The one thread that owns a multi handle and every transfer on it.
///
/// Others post to its mailbox.
///
/// Dropping the loop ends its thread; transfers that still run then end with ``CurlError/shutDown``.
final class CurlLoop: Sendable {
  private let mailbox = CurlMailbox()

  deinit { mailbox.post(.stop) }

  /// Sends a request and waits for its response.
  ///
  /// Cancelling the task ends the transfer alone.
  func perform(_ request: CurlRequest) async throws(CurlError) -> CurlResponse {
    let job = CurlJob(request)
    let result = await withTaskCancellationHandler {
      await unsafe withUnsafeContinuation { continuation in
        unsafe job.continuation = continuation
        mailbox.post(.start(job))
      }
    } onCancel: {
      mailbox.post(.cancel(job))
    }
    return try result.get()
  }

  /// Ends every transfer and the thread.
  func stop() { mailbox.post(.stop) }
}

/// One request on its way through the loop.
///
/// All but the request belongs to the loop's thread once posted.
@safe final class CurlJob: @unchecked Sendable {
  enum Stage { case new, queued, running, done }

  let request: CurlRequest
  let deadline: Int64
  var continuation: UnsafeContinuation<Result<CurlResponse, CurlError>, Never>?
  var stage = Stage.new
  var isCancelled = false
  /// Whether this is its second attempt.
  var isRepeated = false

  init(_ request: CurlRequest) {
    self.request = request
    deadline = CurlMailbox.milliseconds + request.timeout
    unsafe continuation = nil
  }

  func finish(_ result: Result<CurlResponse, CurlError>) {
    stage = .done
    unsafe continuation?.resume(returning: result)
    unsafe continuation = nil
  }
}

/// What others leave for the loop's thread, and the means to wake it.
final class CurlMailbox: Sendable {
  enum Command { case start(CurlJob), cancel(CurlJob), stop }

  private struct State {
    var commands: [Command] = []
    /// The thread's multi handle as bits, while the thread runs; waking is only possible then.
    var multi: UInt?
    var isStopped = false
  }

  private let state = Locked(State())

  /// libcurl's own initialisation: once per process, before anything else of it.
  private static let libcurl: Bool = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

  static var milliseconds: Int64 { Int64(DispatchTime.now().uptimeNanoseconds / 1_000_000) }

  func post(_ command: Command) {
    let isRefused = state.withLock { state -> Bool in
      guard !state.isStopped else { return true }
      // A task that was cancelled before it began cancels first and starts then; there may be no thread yet to tell.
      // Nobody else has seen the job, and the lock orders this before all that follows.
      if state.multi == nil, case .cancel(let job) = command { job.isCancelled = true }
      if state.multi == nil {
        guard case .start = command else {
          if case .stop = command { state.isStopped = true }
          return false
        }
        guard Self.libcurl, let multi = unsafe curl_multi_init() else { return true }
        state.multi = UInt(bitPattern: multi)
        WorkerThread.start("curl") { [self] in CurlThread(mailbox: self).run() }
      }
      if case .stop = command { state.isStopped = true }
      state.commands.append(command)
      if state.commands.count == 1, let bits = state.multi {
        unsafe _ = curl_multi_wakeup(UnsafeMutableRawPointer(bitPattern: bits))
      }
      return false
    }
    if isRefused, case .start(let job) = command { job.finish(.failure(.shutDown)) }
  }

  /// The thread's own handle.
  var multi: UnsafeMutableRawPointer? {
    unsafe state.withLock { unsafe $0.multi.flatMap { unsafe UnsafeMutableRawPointer(bitPattern: $0) } }
  }

  func take(into commands: inout [Command]) {
    state.withLock { state in
      swap(&state.commands, &commands)
    }
  }

  /// Takes the handle away, so that nobody wakes a thread that is gone.
  func close() {
    state.withLock { $0.multi = nil }
  }
}
