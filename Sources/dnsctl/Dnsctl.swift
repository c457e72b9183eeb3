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

  static func main() async { await main(ShortOptions.separated(ProcessArguments.take())) }
}
