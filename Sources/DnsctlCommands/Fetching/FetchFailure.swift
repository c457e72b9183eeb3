// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import HTTPTypes

/// Why one try of a job failed.
struct FetchFailure: Error, Sendable {
  let status: ExitStatus
  /// The message; nil if there is nobody to read it.
  let message: String?
  /// Whether another try may help.
  var isTransient = false
  /// How long the server asks to be left alone.
  var retryAfter: Duration?

  init(_ status: ExitStatus, _ message: String?) {
    self.status = status
    self.message = message
  }

  /// The options for the settings that the library's messages name.
  private static let options: KeyValuePairs<String, String> = [
    "timeouts.firstByte": "--max-time", "timeouts.idle": "--speed-time", "timeouts.total": "--max-time",
    "trust": "--cacert", "identity": "--cert", "httpVersion": "--http1.1", "decompresses": "without --compressed",
  ]

  init(_ error: DirectDNSError, _ job: FetchJob) {
    status = ExitStatus(error)
    let text = error.attempts.isEmpty ? DirectDNSError.sentence("\(error)") : "\(error)"
    message = Self.options.reduce(text) { text, option in
      text.replacing("(\(option.key))", with: "(\(option.value))")
    }
    isTransient = FetchRetryRule.allows(job.request.method, isReplayable: job.isReplayable, after: error)
  }

  /// A status that counts as a failure.
  init(status response: DirectResponse, isTransient: Bool) {
    response.body.cancel()
    status = .httpError
    // HTTP/2 has no reason phrases, and those of HTTP/1.1 have no limit. What is shown escaped takes no column before.
    let answer = "\(response.status.code) \(response.status.reasonPhrase.printable.cut(to: 512))"[...].trimmed
    message = "\(Origin(response.url))\(response.url.path) answered \(answer)."
    self.isTransient = isTransient
    retryAfter = response.retryAfter
  }

  /// A part of a file that is shorter or longer than the server announced.
  init(_ fault: RemainderCheck.Fault, _ job: FetchJob) {
    var error = DirectDNSError(
      .connectionLost,
      "\(Origin(job.url)) sent \(fault.isShort ? "less" : "more") than the \(fault.length.counted("byte")) that it announced."
    )
    error.mayHaveReachedServer = true
    self.init(error, job)
  }

  init(_ error: StreamError, _ job: FetchJob) {
    // A FIFO's reader may be gone while that of standard output is still there.
    let path = job.destination.path
    guard path != nil || error != .closedPipe else {
      self.init(.closedPipe, nil)
      return
    }
    self.init(.streams, "\(path?.printable ?? "standard output") cannot be written: \(error.reason).")
  }
}
