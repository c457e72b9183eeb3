// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import HTTPTypes

/// Performs jobs: sends requests, tries again, and writes bodies to where they belong.
struct Fetcher: Sendable {
  let client: DirectClient
  let context: CommandContext
  let output: OutputFlags
  let retries: Int
  let log: VerboseLog?
  let board: ProgressBoard?
  /// Set if several transfers share standard output.
  let turns: OutputOrder?
  let writeOut: WriteOut?
  let dump: HeadDump?
  /// How many URLs there are: of several, messages say which one they are about.
  let jobs: Int

  /// Performs one job, and reports what went wrong.
  func fetch(_ job: FetchJob) async -> ExitStatus {
    let report = TransferReport(job)
    defer { turns?.end(job.index) }
    let failure = await perform(report)
    let status = failure?.status ?? .answered
    report.end(status, failure?.message, at: context.clock.now)
    guard let writeOut, status != .closedPipe else { return status }
    await turns?.wait(job.index)
    return status.joined(writeOut.write(report, in: context))
  }

  /// Tries until it succeeds, or until another try would not help.
  private func perform(_ report: TransferReport) async -> FetchFailure? {
    let job = report.job
    let file = job.destination.path.map { OutputFile($0) }
    var tries = 1
    while true {
      do throws(FetchFailure) {
        try await attempt(report, file, isLast: tries > retries, resumes: output.resumes)
        board?.end(job.index)
        return nil
      } catch {
        guard tries <= retries, error.isTransient else {
          let failure = await writeRedirects(report) ?? error
          reportError(failure, job)
          return failure
        }
        let pause = FetchRetryRule.pause(afterTries: tries, retryAfter: error.retryAfter)
        // Nothing has failed yet: -S does not ask for it, as in curl.
        if !output.isSilent {
          // The message has a line for each server that was tried.
          let gap = error.message?.contains("\n") == true ? "\n" : " "
          say("\(mark(job))\(error.message.map { $0 + gap } ?? "")The next try is in \(pause.components.seconds) s.")
        }
        await context.pause(pause)
        tries += 1
      }
    }
  }

  private func attempt(
    _ report: TransferReport, _ file: OutputFile?, isLast: Bool, resumes: Bool
  ) async throws(FetchFailure) {
    let job = report.job
    var request = job.request
    report.begin(at: context.clock.now)
    let beginning: OutputFile.Beginning?
    do throws(StreamError) { beginning = resumes ? try file?.openToContinue() : nil } catch {
      throw FetchFailure(error, job)
    }
    if let beginning {
      request.headerFields[.range] = "bytes=\(beginning.length)-"
      if let validator = beginning.record?.validator { request.headerFields[.ifRange] = validator }
    }
    let response: DirectResponse
    do {
      response = try await client.execute(request, body: job.requestBody(context.input), options: options(report))
    } catch {
      // The heads of redirects may have come.
      try? await dumpHeads(report)
      throw FetchFailure(error, job)
    }
    report.received(response)
    do throws(StreamError) { try await dumpHeads(report) } catch {
      response.body.cancel()
      throw error == .closedPipe && dump?.isOnOutput == true
        ? FetchFailure(.closedPipe, nil) : FetchFailure(.streams, "-D: the heads cannot be written: \(error.reason).")
    }
    if !isLast, FetchRetryRule.statuses.contains(response.status.code),
      FetchRetryRule.allows(request.method, isReplayable: job.isReplayable, after: nil)
    {
      guard let pause = response.retryAfter, pause > FetchRetryRule.longestPause else {
        throw FetchFailure(status: response, isTransient: true)
      }
      if !output.isSilent {
        let asked = "the server asks to wait \(pause.components.seconds) s, and --retry waits an hour at most"
        say("\(mark(job))This was the last try: \(asked).")
      }
    }
    // A file that is complete already is no failure (416), as in curl.
    if output.failsOnStatus, response.status.code >= 400, beginning == nil || response.status.code != 416 {
      try await writeHeads(of: response, job, file)
      throw FetchFailure(status: response, isTransient: false)
    }
    guard let beginning else {
      board?.update(job.index) { $0.begin(at: 0, expecting: expected(response), now: $1) }
      try await receive(response, report, file)
      guard output.failsWithBody, response.status.code >= 400 else { return }
      throw FetchFailure(status: response, isTransient: false)
    }
    try await resume(response, report, file, beginning, isLast: isLast)
  }

  /// What there is to follow of a try, as far as anybody wants to know it.
  private func options(_ report: TransferReport) -> RequestOptions {
    var options = RequestOptions()
    guard log != nil || writeOut != nil || dump != nil || showsHeads(report.job) else { return options }
    options.observer = { [log = log?.anew(), clock = context.clock] event in
      log?.note(event)
      report.note(event, at: clock.now)
    }
    guard writeOut != nil else { return options }
    options.progress = { report.sent($0) }
    options.wireObserver = { [clock = context.clock] in report.note($0, at: clock.now) }
    return options
  }

  /// Appends what comes to the file, or replaces it.
  private func resume(
    _ response: DirectResponse, _ report: TransferReport, _ file: OutputFile?, _ beginning: OutputFile.Beginning,
    isLast: Bool
  ) async throws(FetchFailure) {
    let job = report.job
    let verdict = ResumeRule.verdict(beginning, status: response.status.code, fields: response.headerFields)
    log?.say("continuing behind \(beginning.length.counted("byte")): \(verdict)")
    let path = (job.destination.path ?? "-").printable
    switch verdict {
    case .append(let missing):
      if beginning.record?.validator == nil {
        say("\(path) is continued without comparing: nothing is known of the version that it began with.")
      }
      board?.update(job.index) { $0.begin(at: beginning.length, expecting: expected(response), now: $1) }
      try await receive(response, report, file, continuing: missing)
    case .startOver:
      board?.update(job.index) { $0.begin(at: 0, expecting: expected(response), now: $1) }
      try await receive(response, report, file)
    case .complete:
      response.body.cancel()
      do throws(StreamError) { try file?.finish() } catch { throw FetchFailure(error, job) }
      board?.update(job.index) { $0.begin(at: beginning.length, expecting: 0, now: $1) }
    case .askAnew(let reason)
    where FetchRetryRule.allows(job.request.method, isReplayable: job.isReplayable, after: nil):
      response.body.cancel()
      say("\(path) is fetched from its beginning: \(reason).")
      try await attempt(report, file, isLast: isLast, resumes: false)
    case .askAnew(let reason), .refused(let reason):
      response.body.cancel()
      throw FetchFailure(.httpError, "\(path) cannot be continued and stays as it is: \(reason).")
    }
  }

  /// Writes a body: after what a file has, which lacks `missing` bytes, or from the beginning.
  private func receive(
    _ response: DirectResponse, _ report: TransferReport, _ file: OutputFile?, continuing missing: Int64? = nil
  ) async throws(FetchFailure) {
    let job = report.job
    if file == nil { await turns?.wait(job.index) }
    var sink = sink(for: response, job, file, isOpen: missing != nil)
    do throws(StreamError) {
      if showsHeads(job) { try sink.write(heads(of: response, file)) }
      guard !job.wantsHeadAlone else {
        response.body.cancel()
        return try sink.finish()
      }
    } catch { throw FetchFailure(error, job) }
    var iterator = response.body.makeAsyncIterator()
    var remainder = missing.map(RemainderCheck.init)
    while true {
      let piece: [UInt8]?
      do { piece = try await iterator.next() } catch {
        var failure = FetchFailure(error, job)
        // What was written to standard output or a FIFO cannot be taken back.
        if !(file?.canStartOver ?? false), sink.hasWritten { failure.isTransient = false }
        throw failure
      }
      do throws(RemainderCheck.Fault) { try remainder?.take(piece?.count) } catch {
        response.body.cancel()
        throw FetchFailure(error, job)
      }
      do throws(StreamError) {
        guard let piece else {
          try writeTrailers(response, to: &sink)
          // What the file holds is still good (RFC 9110 §15.4.5); an empty one would take its place.
          if response.status == .notModified, !sink.hasWritten { return }
          return try sink.finish()
        }
        try sink.write(piece)
      } catch {
        response.body.cancel()
        throw FetchFailure(error, job)
      }
      if let piece {
        report.received(piece.count)
        board?.update(job.index) { $0.add(piece.count, now: $1) }
      }
    }
  }

  func sink(
    for response: DirectResponse, _ job: FetchJob, _ file: OutputFile?, isOpen: Bool
  ) -> FetchSink {
    FetchSink(
      file: file, output: context.output,
      // The length of a file that begins with a head says nothing about the body.
      record: output.includesHeads ? nil : ResumeRecord(of: response.head), isOpen: isOpen,
      refusesBinary: file == nil && context.isOutputTerminal && job.index >= output.outputs.count)
  }

  /// The body's length, unless it is decoded.
  private func expected(_ response: DirectResponse) -> Int64? {
    let isDecoded = client.configuration.decompresses && response.headerFields[.contentEncoding] != nil
    return isDecoded ? nil : response.headerFields[.contentLength].flatMap { Int64($0) }
  }

  // MARK: Messages

  /// A URL's number, since the URL may contain a password.
  private func mark(_ job: FetchJob) -> String { jobs > 1 ? "URL \(job.index + 1) of \(jobs): " : "" }

  private func reportError(_ failure: FetchFailure, _ job: FetchJob) {
    let text = output.isMute ? "" : failure.message.map { "dnsctl: \(mark(job))\($0)\n" } ?? ""
    if let board { board.end(job.index, saying: text) } else if !text.isEmpty { context.errors.say(text) }
  }

  private func say(_ message: String) {
    guard !output.isMute else { return }
    if let board { board.say("dnsctl: \(message)\n") } else { context.reportError(message) }
  }
}
