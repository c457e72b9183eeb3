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
    var hasThread = false
    var isStopped = false
  }

  private let state = Locked(State())
  /// The thread's multi handle as bits, while the thread runs.
  ///
  /// Behind a lock of its own, so that the thread does not wake up to find its mailbox locked by who woke it.
  private let handle = Locked<UInt?>(nil)

  /// libcurl's own initialisation: once per process, before anything else of it.
  private static let libcurl: Bool = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

  static var milliseconds: Int64 { Int64(DispatchTime.now().uptimeNanoseconds / 1_000_000) }

  func post(_ command: Command) {
    enum Outcome { case posted, postedFirst, refused }
    let outcome = state.withLock { state -> Outcome in
      guard !state.isStopped else { return .refused }
      // A task that was cancelled before it began cancels first and starts then; there may be no thread yet to tell.
      // Nobody else has seen the job, and the lock orders this before all that follows.
      if !state.hasThread, case .cancel(let job) = command { job.isCancelled = true }
      if !state.hasThread {
        guard case .start = command else {
          if case .stop = command { state.isStopped = true }
          return .posted
        }
        guard Self.libcurl, let multi = unsafe curl_multi_init() else { return .refused }
        state.hasThread = true
        handle.withLock { $0 = UInt(bitPattern: multi) }
        WorkerThread.start("curl") { [self] in CurlThread(mailbox: self).run() }
      }
      if case .stop = command { state.isStopped = true }
      state.commands.append(command)
      return state.commands.count == 1 ? .postedFirst : .posted
    }
    switch outcome {
    case .posted: break
    case .postedFirst: wake()
    case .refused: if case .start(let job) = command { job.finish(.failure(.shutDown)) }
    }
  }

  private func wake() {
    handle.withLock { bits in
      guard let bits else { return }
      unsafe _ = curl_multi_wakeup(UnsafeMutableRawPointer(bitPattern: bits))
    }
  }

  /// The thread's own handle.
  var multi: UnsafeMutableRawPointer? {
    unsafe handle.withLock { bits in unsafe bits.flatMap { unsafe UnsafeMutableRawPointer(bitPattern: $0) } }
  }

  func take(into commands: inout [Command]) {
    state.withLock { state in
      swap(&state.commands, &commands)
    }
  }

  /// Takes the handle away, so that nobody wakes a thread that is gone.
  func close() {
    handle.withLock { $0 = nil }
  }
}
