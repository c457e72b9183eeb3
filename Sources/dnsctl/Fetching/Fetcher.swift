internal import DirectDNS
internal import HTTPTypes

/// Performs jobs: sends, tries again, and writes what comes where it belongs.
struct Fetcher: Sendable {
  let client: DirectClient
  let context: CommandContext
  let output: OutputFlags
  let retries: Int
  let log: VerboseLog?
  let board: ProgressBoard?
  /// Where several transfers share standard output.
  let turns: OutputTurns?

  /// Performs one job, and says what went wrong.
  func fetch(_ job: FetchJob) async -> ExitStatus {
    let file = job.destination.path.map { OutputFile($0) }
    defer { turns?.end(job.index) }
    var tries = 1
    while true {
      do throws(FetchFailure) {
        try await attempt(job, file, isLast: tries > retries)
        board?.end(job.index)
        return .answered
      } catch {
        guard tries <= retries, error.mayPass else {
          complain(error, job)
          return error.status
        }
        let pause = RetryRule.pause(
          afterTries: tries, retryAfter: error.retryAfter, now: context.clock.secondsSince1970)
        say("\(error.message ?? "") The next try is in \(pause.components.seconds) s.")
        await context.pause(pause)
        tries += 1
      }
    }
  }

  private func attempt(_ job: FetchJob, _ file: OutputFile?, isLast: Bool) async throws(FetchFailure) {
    var request = job.request
    let offset = output.resumes ? file?.continuableLength() ?? 0 : 0
    if offset > 0 { request.headerFields[.range] = "bytes=\(offset)-" }
    let response: DirectResponse
    do {
      response = try await client.execute(
        request, body: job.requestBody(context.input), options: RequestOptions(observer: log?.note))
    } catch {
      throw FetchFailure(error, job)
    }
    if !isLast, RetryRule.statuses.contains(response.status.code),
      RetryRule.allows(request.method, isReplayable: job.isReplayable, after: nil)
    {
      throw FetchFailure(status: response, mayPass: true)
    }
    if output.failsOnStatus, response.status.code >= 400 { throw FetchFailure(status: response, mayPass: false) }
    guard offset > 0 else {
      board?.update(job.index) { $0.begin(at: 0, expecting: expected(response), now: $1) }
      return try await receive(response, job, file)
    }
    try await goOn(response, job, file, offset)
  }

  /// What comes goes behind what is there, or in its place.
  private func goOn(
    _ response: DirectResponse, _ job: FetchJob, _ file: OutputFile?, _ offset: Int64
  ) async throws(FetchFailure) {
    let verdict = ResumeRule.verdict(
      offset: offset, status: response.status.code, contentRange: response.headerFields[.contentRange])
    log?.say("continuing behind \(offset.counted("byte")): \(verdict)")
    do throws(StreamError) {
      switch verdict {
      case .append: try file?.openToContinue()
      case .startOver: break
      case .complete: try file?.putInPlace()
      case .refused(let reason):
        response.body.cancel()
        let path = job.destination.path ?? "-"
        throw .failed("\(path.printable) cannot be continued and stays as it is: \(reason)")
      }
    } catch {
      if case .refused = verdict { throw FetchFailure(.httpError, "\(error.reason).") }
      throw FetchFailure(error, job)
    }
    guard verdict != .complete else {
      response.body.cancel()
      board?.update(job.index) { $0.begin(at: offset, expecting: 0, now: $1) }
      return
    }
    let start = verdict == .append ? offset : 0
    board?.update(job.index) { $0.begin(at: start, expecting: expected(response), now: $1) }
    try await receive(response, job, file, isOpen: verdict == .append)
  }

  private func receive(
    _ response: DirectResponse, _ job: FetchJob, _ file: OutputFile?, isOpen: Bool = false
  ) async throws(FetchFailure) {
    if file == nil { await turns?.wait(job.index) }
    var sink = FetchSink(file: file, output: context.output, isOpen: isOpen)
    do throws(StreamError) {
      if output.includesHeads || job.request.method == .head { try sink.write(Array(heads(of: response).utf8)) }
    } catch { throw FetchFailure(error, job) }
    var iterator = response.body.makeAsyncIterator()
    while true {
      let piece: [UInt8]?
      do { piece = try await iterator.next() } catch {
        var failure = FetchFailure(error, job)
        // What stands on standard output cannot be taken back.
        if file == nil, sink.hasWritten { failure.mayPass = false }
        throw failure
      }
      do throws(StreamError) {
        guard let piece else { return try sink.finish() }
        try sink.write(piece)
      } catch {
        response.body.cancel()
        throw FetchFailure(error, job)
      }
      if let piece { board?.update(job.index) { $0.add(piece.count, now: $1) } }
    }
  }

  /// The heads of all hops, as curl shows them.
  private func heads(of response: DirectResponse) -> String {
    let hops = response.hops.map { HeadText.response($0.head, version: $0.connection.httpVersion) }
    return hops.joined() + HeadText.response(response.head, version: response.connection.httpVersion)
  }

  /// The body's length, where it comes as it is.
  private func expected(_ response: DirectResponse) -> Int64? {
    let isDecoded = client.configuration.decompresses && response.headerFields[.contentEncoding] != nil
    return isDecoded ? nil : response.headerFields[.contentLength].flatMap { Int64($0) }
  }

  // MARK: Saying

  private var isMute: Bool { output.isSilent && !output.showsErrors }

  private func complain(_ failure: FetchFailure, _ job: FetchJob) {
    let text = isMute ? "" : failure.message.map { "dnsctl: \($0)\n" } ?? ""
    if let board { board.end(job.index, saying: text) } else if !text.isEmpty { try? context.errors.write(text) }
  }

  private func say(_ message: String) {
    guard !isMute else { return }
    if let board { board.say("dnsctl: \(message)\n") } else { context.complain(message) }
  }
}
