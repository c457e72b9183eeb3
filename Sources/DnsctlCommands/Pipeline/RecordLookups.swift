// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Looks up records of names of the command line and of standard input concurrently, and writes the results in order.
struct RecordLookups: Sendable {
  let hosts: [String]
  let types: [DNSRecordType]
  /// Whether the hosts are addresses, whose names are asked for.
  let isReverse: Bool
  /// Why some of the hosts are no names, but arguments of another program.
  let objections: [String: String]
  let format: OutputFormat

  /// Looks up all of them.
  ///
  /// - Parameters:
  ///   - context: where names come from and answers go to.
  ///   - lookUp: finds a name's records of a type.
  /// - Returns: the highest of their statuses.
  func run(
    in context: CommandContext,
    _ lookUp: @escaping @Sendable (DNSName, DNSRecordType) async throws(DirectDNSError) -> RecordResolution
  ) async -> ExitStatus {
    let clock = context.clock
    let (types, isReverse, objections) = (types, isReverse, objections)
    let pipeline = OrderedPipeline(input: context.input) { item in
      let start = clock.now
      let outcome: @Sendable (DNSRecordType, Result<RecordResolution, DirectDNSError>) -> RecordOutcome = {
        type, result in
        RecordOutcome(host: item.text, type: type, result: result, elapsed: clock.now - start)
      }
      let name: DNSName
      do throws(DirectDNSError) {
        if let objection = objections[item.text] { throw DirectDNSError(.invalidName, objection) }
        name = try Self.name(item.text, isReverse: isReverse)
      } catch {
        // One error for an invalid name, however many types it would have been asked for.
        return [outcome(types[0], .failure(error))]
      }
      return await types.mapAtOnce { type -> RecordOutcome in
        do throws(DirectDNSError) {
          return outcome(type, .success(try await lookUp(name, type)))
        } catch {
          let isName = isReverse && type == .ptr
          return outcome(type, .failure(isName ? Self.nameless(item.text, name, error) : error))
        }
      }
    }
    let style = context.style
    var writer = OutcomeWriter(context) { (outcome: RecordOutcome) in (format.render(outcome, style), outcome.status) }
    do throws(CommandError) {
      try await pipeline.run(hosts) { outcomes throws(StreamError) in try writer.write(Array(outcomes.joined())) }
    } catch {
      return error.status(in: context)
    }
    return writer.status
  }

  /// A negative answer that names the address that was asked for, and not only its reverse name, which is made of it.
  private static func nameless(_ address: String, _ name: DNSName, _ error: DirectDNSError) -> DirectDNSError {
    switch error.code {
    case .nameNotFound: DirectDNSError(error.code, "\(address) stands for no name: \(name.shown) does not exist.")
    case .noRecord: DirectDNSError(error.code, "\(address) stands for no name: \(error.message)")
    default: error
    }
  }

  private static func name(_ text: String, isReverse: Bool) throws(DirectDNSError) -> DNSName {
    guard isReverse else { return try DNSName(asking: text) }
    guard let address = IPAddress(text) else {
      throw DirectDNSError(.invalidName, "This is not an address: -x asks for the names of addresses.")
    }
    return DNSName(reverse: address)
  }
}
