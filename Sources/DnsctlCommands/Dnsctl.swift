// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
internal import DirectDNS
internal import Dispatch

/// The list of subcommands; each lives in a file of its own.
package struct Dnsctl: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "dnsctl",
    abstract: "Resolves host names over HTTPS, and sends requests straight to addresses.",
    version: DnsctlVersion.text,
    subcommands: [
      ResolveCommand.self, CompareCommand.self, RewriteCommand.self, RestoreCommand.self, FetchCommand.self,
      WarmupCommand.self,
      CacheCommand.self, WatchCommand.self, CheckCommand.self, ProxyProgramCommand.self, ExecProgramCommand.self,
      VersionCommand.self,
    ])

  package init() {}

  /// Runs a program until the process ends.
  ///
  /// Not an asynchronous `main`: before that begins, the queue on which it runs has opened files of its own.
  ///
  /// - Parameters:
  ///   - threads: how many threads of its own the program has besides those of every command.
  ///   - meanwhile: what this thread, which has nothing to do otherwise, does while the program begins.
  ///   - program: the program.
  package static func start(
    threads: Int = 0, meanwhile: () -> Void = {}, _ program: @escaping @Sendable () async -> Void
  ) -> Never {
    StandardDescriptor.keepClosed()
    AddressSpaceLimit.makeRoomForThreads()
    if let shortage = StartLimits.shortage(threads: StartLimits.threads + threads) {
      DescriptorOutput(descriptor: StandardDescriptor.errors).say("dnsctl: \(shortage)\n")
      CommandSignals.end(.streams)
    }
    Task {
      await program()
      CommandSignals.end(.answered)
    }
    meanwhile()
    dispatchMain()
  }

  /// Runs the command that the process was started with.
  package static func start() -> Never {
    ProxyProgramStart.replaceProcess(for: ProcessArguments.shown)
    OwnDescriptor.look(at: CommandLine.arguments)
    let command = CommandLine.arguments.dropFirst().first ?? ""
    start(meanwhile: { if sending.contains(command) { CurlLibrary.prepare() } }) { await main(self) }
  }

  /// The commands that send requests: to make ready what they send them with takes no longer than to read their options.
  private static let sending = ["resolve", "compare", "fetch", "warmup", "watch", "check"]

  /// Whether only a completion script is asked for.
  package static var asksForCompletions: Bool {
    CommandLine.arguments.dropFirst().first?.hasPrefix("--generate-completion-script") == true
  }

  /// Runs a root command: this program's, or another one's.
  package static func main(_ root: any ParsableCommand.Type) async {
    guard ProcessArguments.areKnown else {
      DescriptorOutput(descriptor: StandardDescriptor.errors).say(ProcessArguments.unknownText)
      CommandSignals.end(.streams)
    }
    var command: String?
    let commands = root.configuration.subcommands.compactMap { $0.configuration.commandName }
    var words: [String] = []
    do {
      words = ProcessArguments.take()
      command = words.first
      // What follows is the program's; the parser would take a time that grows with the square of the words.
      if command == "exec" { words = Array(words[..<OptionWords.programPlace(in: words)]) }
      try ProcessArguments.refuseOtherBytes(among: words.count)
      words = try OptionWords.separated(words)
      if let objection = UnknownCommand.objection(in: words, of: root) { throw CommandError(.usage, objection) }
      var parsed = try root.parseAsRoot(root == Dnsctl.self ? VersionCommand.spelledOut(words) : words)
      if var parsed = parsed as? any AsyncParsableCommand { try await parsed.run() } else { try parsed.run() }
    } catch let error as CommandError {
      DescriptorOutput(descriptor: StandardDescriptor.errors).say("dnsctl: \(error.message)\n")
      CommandSignals.end(error.status)
    } catch {
      // The parser repeats its arguments, which may come from anywhere in a script.
      ProcessArguments.widenHelp()
      let first = root.fullMessage(for: error)
      let main = UnknownOption.error(behind: first, in: words, of: root) ?? error
      let said = root.fullMessage(for: main)
      let (message, code) = (CompletionScript.patched(said, commands: commands), root.exitCode(for: main))
      let objection =
        UnknownOption.objection(in: message, of: command) ?? UnexpectedArgument.objection(in: message, of: command)
      // The parser's own messages begin with "Error: ", and dnsctl's with its name.
      let near = UnknownOption.withoutFarSuggestion(message)
      let own = near.hasPrefix("Error: ") ? "dnsctl: " + near.dropFirst("Error: ".count) : near
      let text = message.isEmpty ? "" : (objection.map { "dnsctl: \($0)" } ?? own) + "\n"
      let errors = DescriptorOutput(descriptor: StandardDescriptor.errors)
      guard code.isSuccess else {
        errors.say(text)
        CommandSignals.end(with: code.rawValue)
      }
      do throws(StreamError) {
        try DescriptorOutput(descriptor: StandardDescriptor.output).write(text.printableLines)
      } catch {
        if error != .closedPipe { errors.say("dnsctl: standard output cannot be written: \(error.reason).\n") }
        CommandSignals.end(error == .closedPipe ? .closedPipe : .streams)
      }
      CommandSignals.end(.answered)
    }
  }
}
