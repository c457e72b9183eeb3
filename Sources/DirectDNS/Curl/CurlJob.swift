/// One DNS request on its way through the loop.
///
/// All but the request belongs to the loop's thread once posted.
@safe final class CurlJob: @unchecked Sendable {
  enum Stage { case new, queued, running, done }

  typealias Completion = @Sendable (Result<CurlResponse, CurlError>) -> Void

  let request: CurlRequest
  let deadline: Int64
  private var completion: Completion?
  var stage = Stage.new
  var isCancelled = false
  /// Whether this is its second attempt.
  var isRepeated = false

  init(_ request: CurlRequest, _ completion: @escaping Completion) {
    self.request = request
    self.completion = completion
    deadline = CurlTime.now + request.timeout
  }

  func finish(_ result: Result<CurlResponse, CurlError>) {
    stage = .done
    completion?(result)
    completion = nil
  }
}

extension CurlLoop<CurlQueries> {
  /// Creates a loop for DNS requests.
  convenience init() { self.init(()) }

  /// Starts a transfer, or ends it where the loop was stopped.
  func start(_ job: CurlJob) { if !post(.start(job)) { job.finish(.failure(.shutDown)) } }

  /// Ends a transfer.
  func cancel(_ job: CurlJob) { _ = post(.cancel(job)) }

  /// Sends a request and waits for its response.
  ///
  /// Cancelling the task ends the transfer alone.
  func perform(_ request: CurlRequest) async throws(CurlError) -> CurlResponse {
    let waiting = Locked<CheckedContinuation<Result<CurlResponse, CurlError>, Never>?>(nil)
    let job = CurlJob(request) { result in waiting.withLock { $0.take() }?.resume(returning: result) }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        waiting.withLock { $0 = continuation }
        start(job)
      }
    } onCancel: {
      // A task that was cancelled before it began cancels first and starts then; the mailbox keeps that order.
      cancel(job)
    }
    return try result.get()
  }
}
