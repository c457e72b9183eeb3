/// One DNS request on its way through the loop.
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
    deadline = CurlTime.now + request.timeout
    unsafe continuation = nil
  }

  func finish(_ result: Result<CurlResponse, CurlError>) {
    stage = .done
    unsafe continuation?.resume(returning: result)
    unsafe continuation = nil
  }
}

extension CurlLoop<CurlQueries> {
  /// Creates a loop for DNS requests.
  convenience init() { self.init(()) }

  /// Sends a request and waits for its response.
  ///
  /// Cancelling the task ends the transfer alone.
  func perform(_ request: CurlRequest) async throws(CurlError) -> CurlResponse {
    let job = CurlJob(request)
    let result = await withTaskCancellationHandler {
      await unsafe withUnsafeContinuation { continuation in
        unsafe job.continuation = continuation
        if !post(.start(job)) { job.finish(.failure(.shutDown)) }
      }
    } onCancel: {
      // A task that was cancelled before it began cancels first and starts then; the mailbox keeps that order.
      _ = post(.cancel(job))
    }
    return try result.get()
  }
}
