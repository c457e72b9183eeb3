internal import ArgumentParser

/// The list of subcommands; each lives in a file of its own.
@main
struct Dnsctl: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dnsctl",
    abstract: "Resolves host names over HTTP, and sends requests straight to addresses.",
    version: "0.1.0",
    subcommands: [
      ResolveCommand.self, RewriteCommand.self, RestoreCommand.self, FetchCommand.self, WarmupCommand.self,
      CacheCommand.self, WatchCommand.self, CheckCommand.self,
    ])

  static func main() async {
    do {
      var command = try parseAsRoot(ShortOptions.separated(ProcessArguments.take()))
      if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
    } catch {
      // The parser repeats what it was given, which a script may have from anyone.
      let (text, code) = (fullMessage(for: error), exitCode(for: error))
      let sink = DescriptorOutput(descriptor: code.isSuccess ? StandardDescriptor.output : StandardDescriptor.errors)
      if !text.isEmpty { sink.say(text + "\n") }
      exit(withError: code)
    }
  }
}
