// SPDX-License-Identifier: Apache-2.0
/// One DNS request on its way through the loop.
///
/// All but the request belongs to the loop's thread once posted, and to whoever is handed its end.
class CurlJob: @unchecked Sendable {
  // Safe to share: whoever has it hands it over by the mailbox's lock, and gets it back at its end.

  enum Stage { case new, queued, running, done }

  let request: CurlRequest
  let deadline: Int64
  /// Who gets it back.
  let recipient: any CurlRecipient
  var stage = Stage.new
  var isCancelled = false
  /// Whether this is its second attempt.
  var isRepeated = false
  private var result = Result<HTTPReply, HTTPTransportError>.failure(.shutDown)

  init(_ request: CurlRequest, for recipient: any CurlRecipient) {
    self.request = request
    self.recipient = recipient
    deadline = LoopTime.now + request.timeout
  }

  func finish(_ result: Result<HTTPReply, HTTPTransportError>) {
    stage = .done
    self.result = result
  }

  /// What came of it, once it is done, for whoever is handed its end: it is there once.
  func takeResult() -> Result<HTTPReply, HTTPTransportError> {
    var taken = Result<HTTPReply, HTTPTransportError>.failure(.shutDown)
    swap(&taken, &result)
    return taken
  }
}

/// A request that carries what its recipient wants to know of it at its end.
final class CurlTaggedJob<Tag: Sendable>: CurlJob, @unchecked Sendable {
  // Safe to share: all that it adds is constant.
  let tag: Tag

  init(_ request: CurlRequest, _ tag: Tag, for recipient: any CurlRecipient) {
    self.tag = tag
    super.init(request, for: recipient)
  }
}

/// Gets requests back that are done: all that one turn of the loop has ended, at once.
protocol CurlRecipient: AnyObject, Sendable {
  func receive(_ jobs: ArraySlice<CurlJob>)
}

extension Loop<CurlQueries> {
  /// Creates a loop for DNS requests.
  convenience init() { self.init(()) }

  /// Starts a transfer, or ends it where the loop takes none.
  func start(_ job: CurlJob) {
    guard !post(.start(job)) else { return }
    job.finish(.failure(refusal))
    job.recipient.receive([job])
  }

  /// Ends a transfer.
  func cancel(_ job: CurlJob) { _ = post(.cancel(job)) }

  /// Sends a request and waits for its response.
  ///
  /// Cancelling the task ends the transfer alone.
  func perform(_ request: CurlRequest) async throws(HTTPTransportError) -> HTTPReply {
    guard !Task.isCancelled else { throw .cancelled }
    let caller = CurlCaller()
    let job = CurlJob(request, for: caller)
    start(job)
    let result = await withTaskCancellationHandler {
      await caller.result.value()
    } onCancel: {
      cancel(job)
    }
    return try result.get()
  }
}

/// A task that waits for one request.
private final class CurlCaller: CurlRecipient {
  let result = Promise<Result<HTTPReply, HTTPTransportError>>()

  func receive(_ jobs: ArraySlice<CurlJob>) { for job in jobs { result.fulfil(job.takeResult()) } }
}
