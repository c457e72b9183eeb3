// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS

/// `dnsctl cache forget`: removes what is stored about names.
struct CacheForgetCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget",
    abstract: "Forget what is stored about names.",
    discussion: """
      Each name that was stored is written with the types that were forgotten.

      EXAMPLES
        dnsctl cache forget www.example.com
        dnsctl cache list --format short '*.old.example' | dnsctl cache forget -

      Exit status: see dnsctl cache.
      """)

  @OptionGroup(title: "Store options")
  var options: StoreOptions

  @Argument(help: ArgumentHelp("A name; - reads names from standard input, one a line.", valueName: "host"))
  var hosts: [String]

  /// The result for one name.
  private enum Outcome: Sendable {
    case forgotten(HostName, [AddressQuestion])
    case failed(String, DirectDNSError)
    case storeFailed(CommandError)
  }

  func run(_ store: OpenStore, in context: CommandContext) async throws(CommandError) -> ExitStatus {
    let pipeline = OrderedPipeline(input: context.input) { await Self.forget($0.text, in: store) }
    return await pipeline.run(hosts, in: context) { Self.render($0) }
  }

  private static func forget(_ text: String, in store: OpenStore) async -> Outcome {
    let host: HostName
    do throws(DirectDNSError) { host = try HostName(text) } catch { return .failed(text, error) }
    do throws(CommandError) {
      let questions = try await store.rows(host).map(\.answer.question)
      if !questions.isEmpty {
        try await store.call { store throws(DirectDNSError) in try await store.remove(questions) }
      }
      return .forgotten(host, questions)
    } catch {
      return .storeFailed(error)
    }
  }

  private static func render(_ outcome: Outcome) -> (RenderedOutcome, ExitStatus) {
    switch outcome {
    case .forgotten(let host, let questions) where questions.isEmpty:
      return (RenderedOutcome(errors: "dnsctl: \(host.shown) is not stored.\n"), .noAnswer)
    case .forgotten(let host, let questions):
      return (
        RenderedOutcome(output: "\(host.shown)  \(questions.map { "\($0.type)" }.joined(separator: ", "))\n"), .answered
      )
    case .failed(let text, let error): return (RenderedOutcome(errors: ErrorText.lines(text, error)), .noAnswer)
    case .storeFailed(let failure):
      return (RenderedOutcome(errors: "dnsctl: \(failure.message)\n"), failure.status)
    }
  }
}
