// SPDX-License-Identifier: Apache-2.0
/// One DNS request on its way through the loop.
///
/// Once it is posted, what changes of it belongs to the loop's thread, and after its end to the recipient.
final class CurlQuery: @unchecked Sendable {
  // Safe to share: it is handed to the loop's thread by the mailbox's lock, and back to the recipient at its end.

  let request: QueryRequest
  /// By which its recipient knows it.
  let number: Int
  let deadline: Int64
  /// Gets the query back at its end.
  let recipient: any CurlRecipient
  var place = CurlPlace<QueryPoolMachine.QueryID>.new
  private var result = Result<HTTPReply, HTTPTransportError>.failure(.shutDown)

  init(_ request: QueryRequest, number: Int = 0, for recipient: any CurlRecipient) {
    self.request = request
    self.number = number
    self.recipient = recipient
    deadline = LoopTime.now + request.timeout
  }

  func finish(_ result: consuming Result<HTTPReply, HTTPTransportError>) {
    place = .done
    self.result = result
  }

  /// The result, once it is done; it is moved out, so this can be called only once.
  func takeResult() -> Result<HTTPReply, HTTPTransportError> { exchange(&result, with: .failure(.shutDown)) }
}

/// Gets queries back that have ended: all those of one turn of the loop in one call.
protocol CurlRecipient: AnyObject, Sendable {
  func receive(_ queries: ArraySlice<CurlQuery>)
}

extension Loop<CurlQueries> {
  convenience init() { self.init(()) }

  /// Starts a transfer, or ends it at once if the loop takes none.
  func start(_ query: CurlQuery) {
    guard !post(.start(query)) else { return }
    query.finish(.failure(refusal))
    query.recipient.receive([query])
  }

  /// Cancels a transfer; its recipient still gets it back.
  func cancel(_ query: CurlQuery) { _ = post(.cancel(query)) }

  /// Sends a request and waits for its response.
  ///
  /// Cancelling the task cancels the transfer.
  func perform(_ request: QueryRequest) async throws(HTTPTransportError) -> HTTPReply {
    guard !Task.isCancelled else { throw .cancelled }
    let caller = CurlCaller()
    let query = CurlQuery(request, for: caller)
    start(query)
    let result = await withTaskCancellationHandler {
      await caller.result.value()
    } onCancel: {
      cancel(query)
    }
    return try result.get()
  }
}

/// A task that waits for one request.
private final class CurlCaller: CurlRecipient {
  let result = Promise<Result<HTTPReply, HTTPTransportError>>()

  func receive(_ queries: ArraySlice<CurlQuery>) { for query in queries { result.fulfil(query.takeResult()) } }
}
