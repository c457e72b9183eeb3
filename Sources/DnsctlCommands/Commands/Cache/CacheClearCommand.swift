// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS

/// `dnsctl cache clear`: removes everything that is stored.
struct CacheClearCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear",
    abstract: "Forget everything that is stored.",
    discussion: """
      It asks before it does so; where nobody can be asked, --yes is needed. So it is for a damaged file, which is set aside: PATH.damaged is what it is called then.

      EXAMPLES
        dnsctl cache clear
        dnsctl cache clear --yes --store redis://cache.example

      Exit status: see dnsctl cache.
      """)

  @OptionGroup(title: "Store options")
  var options: StoreOptions

  @Flag(help: "Do not ask.")
  var yes = false

  func run(_ store: OpenStore, in context: CommandContext) async throws(CommandError) -> ExitStatus {
    guard yes || context.isInputTerminal else {
      throw CommandError(
        .usage, "standard input is not a terminal, so nobody can confirm that everything is forgotten: add --yes.")
    }
    // What cannot be read can be forgotten all the same, but nobody can be told how much it is.
    var answers = "everything"
    do throws(CommandError) { answers = try await store.visit(0) { $0 += $1.count }.counted("answer") } catch {
      guard yes else { throw error }
    }
    if !yes {
      // The question does not go to standard output, where only the result is expected.
      context.errors.say("Forget \(answers) of \(store.description)? [y/N] ")
      guard try await isConfirmed(context.input) else {
        context.reportError("nothing was forgotten.")
        return .noAnswer
      }
    }
    try await store.call { store throws(DirectDNSError) in try await store.removeAll() }
    try context.print("\(answers) forgotten\n")
    return .answered
  }

  private func isConfirmed(_ input: any InputSource) async throws(CommandError) -> Bool {
    let bytes: [UInt8]
    do throws(StreamError) { bytes = try await input.read() } catch {
      throw CommandError(.streams, "standard input cannot be read: \(error.reason).")
    }
    let word = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }.lowercased()
    return word == "y" || word == "yes"
  }
}
