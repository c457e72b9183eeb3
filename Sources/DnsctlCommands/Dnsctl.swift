// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser

/// The list of subcommands; each lives in a file of its own.
package struct Dnsctl: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "dnsctl",
    abstract: "Resolves host names over HTTP, and sends requests straight to addresses.",
    version: DnsctlVersion.text,
    subcommands: [
      ResolveCommand.self, CompareCommand.self, RewriteCommand.self, RestoreCommand.self, FetchCommand.self,
      WarmupCommand.self,
      CacheCommand.self, WatchCommand.self, CheckCommand.self, ProxyProgramCommand.self, ExecProgramCommand.self,
      VersionCommand.self,
    ])

  package init() {}

  /// Runs the command that the process was started with.
  package static func main() async {
    // The proxy's program knows the options of its verbs, too.
    if asksForCompletions { ProxyProgramStart.replaceProcess(Array(CommandLine.arguments.dropFirst())) }
    if let verb = helpOfProxyProgram { ProxyProgramStart.replaceProcess(verb, ["--help"]) }
    await main(self)
  }

  /// The verb whose help is asked for, and which the proxy's program knows more of.
  private static var helpOfProxyProgram: String? {
    let words = Array(CommandLine.arguments.dropFirst())
    guard words.count == 2, words[0] == "help", ["proxy", "exec"].contains(words[1]) else { return nil }
    return words[1]
  }

  /// Whether a shell's completions are wanted, and nothing else.
  package static var asksForCompletions: Bool {
    CommandLine.arguments.dropFirst().first?.hasPrefix("--generate-completion-script") == true
  }

  /// Runs a program's command: this one's, or another's.
  package static func main(_ root: any ParsableCommand.Type) async {
    guard ProcessArguments.areKnown else {
      DescriptorOutput(descriptor: StandardDescriptor.errors).say(ProcessArguments.unknownText)
      root.exit(withError: ExitCode(ExitStatus.streams.rawValue))
    }
    do {
      let words = ShortOptions.separated(ProcessArguments.take())
      var command = try root.parseAsRoot(root == Dnsctl.self ? VersionCommand.spelledOut(words) : words)
      if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
    } catch {
      // The parser repeats what it was given, which a script may have from anyone.
      let (text, code) = (FishCompletion.mended(root.fullMessage(for: error)), root.exitCode(for: error))
      let sink = DescriptorOutput(descriptor: code.isSuccess ? StandardDescriptor.output : StandardDescriptor.errors)
      if !text.isEmpty { sink.say(text + "\n") }
      root.exit(withError: code)
    }
  }
}
