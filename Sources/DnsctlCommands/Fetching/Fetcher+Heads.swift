// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import HTTPTypes

/// The heads and trailers of responses, as far as they are wanted.
extension Fetcher {
  /// Writes the heads that have come to where -D says.
  func dumpHeads(_ report: TransferReport) async throws(StreamError) {
    let heads = report.now.heads
    guard let dump, !heads.isEmpty else { return }
    if dump.isOnOutput { await turns?.wait(report.job.index) }
    let isShown = dump.isOnOutput && context.isOutputTerminal
    try dump.write(heads.flatMap { $0.text(forTerminal: isShown) })
  }

  /// Whether heads are written to where the body goes.
  func showsHeads(_ job: FetchJob) -> Bool {
    output.includesHeads || job.wantsHeadAlone || job.request.method == .head
  }

  func heads(of response: DirectResponse, _ file: OutputFile?) -> [UInt8] {
    HeadText.all(of: response, forTerminal: file == nil && context.isOutputTerminal)
  }

  /// Writes the heads, if they are wanted, of a response whose status counts as a failure, as curl does.
  ///
  /// A file that is to have a body too stays as it is, since that body does not come.
  func writeHeads(
    of response: DirectResponse, _ job: FetchJob, _ file: OutputFile?
  ) async throws(FetchFailure) {
    let isHeadAll = job.wantsHeadAlone || job.request.method == .head
    guard file == nil ? showsHeads(job) : isHeadAll else { return }
    if file == nil { await turns?.wait(job.index) }
    var sink = sink(for: response, job, file, isOpen: false)
    do throws(StreamError) {
      try sink.write(heads(of: response, file))
      try sink.finish()
    } catch {
      response.body.cancel()
      throw FetchFailure(error, job)
    }
  }

  /// Writes the heads of the redirects, if they are wanted, that led to a request without a response, as curl does: with
  /// them one sees where it went.
  ///
  /// A file gets nothing, since what it is to have does not come.
  ///
  /// - Returns: why they cannot be written.
  func writeRedirects(_ report: TransferReport) async -> FetchFailure? {
    let (job, facts) = (report.job, report.now)
    guard job.destination.path == nil, showsHeads(job), facts.response == nil, !facts.heads.isEmpty else { return nil }
    await turns?.wait(job.index)
    do throws(StreamError) {
      try context.output.write(facts.heads.flatMap { $0.text(forTerminal: context.isOutputTerminal) })
      return nil
    } catch { return FetchFailure(error, job) }
  }

  /// Writes the trailers to where the head was written, as curl does.
  func writeTrailers(_ response: DirectResponse, to sink: inout FetchSink) throws(StreamError) {
    let trailers = response.body.trailerFields
    guard !trailers.isEmpty else { return }
    let text = { (isOnOutput: Bool) in
      HeadText.text(trailers: trailers, forTerminal: isOnOutput && context.isOutputTerminal)
    }
    if output.includesHeads { try sink.write(text(sink.file == nil)) }
    if let dump { try dump.write(text(dump.isOnOutput)) }
  }
}
