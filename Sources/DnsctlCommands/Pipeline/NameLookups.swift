// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Looks up names of the command line and of standard input concurrently, and writes the results in order.
struct NameLookups: Sendable {
  let hosts: [String]
  let format: OutputFormat

  /// Looks up all of them.
  ///
  /// - Parameters:
  ///   - context: where names come from and answers go to.
  ///   - lookUp: finds a name's addresses.
  /// - Returns: the highest of the names' statuses.
  func run(
    in context: CommandContext, _ lookUp: @escaping @Sendable (String) async throws(DirectDNSError) -> Resolution
  ) async -> ExitStatus {
    let clock = context.clock
    let outcome: @Sendable (String) async -> LookupOutcome = { host in
      let start = clock.now
      let result: Result<Resolution, DirectDNSError>
      do throws(DirectDNSError) { result = .success(try await lookUp(host)) } catch { result = .failure(error) }
      return LookupOutcome(host: host, result: result, elapsed: clock.now - start)
    }
    let names = hosts.filter { $0 != Pipeline.inputMark }
    let layout = TextTable(hosts: names, style: context.style)
    var writer = OutcomeWriter(context) { (outcome: LookupOutcome) in (format.render(outcome, layout), outcome.status) }
    do throws(CommandError) {
      if let host = hosts.first, hosts.count == 1, host != Pipeline.inputMark {
        let only = await outcome(host)
        do throws(StreamError) { try writer.write([only]) } catch { throw CommandError(error) }
      } else {
        try await OrderedPipeline(input: context.input) { await outcome($0.text) }.run(hosts) {
          outcomes throws(StreamError) in
          try writer.write(outcomes)
        }
      }
    } catch {
      return error.status(in: context)
    }
    return writer.status
  }
}
