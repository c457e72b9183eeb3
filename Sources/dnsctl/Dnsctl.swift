internal import ArgumentParser

/// The list of subcommands; each lives in a file of its own.
@main
struct Dnsctl: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dnsctl",
    abstract: "Resolves host names over HTTP, and points requests straight at addresses.",
    version: "0.1.0",
    subcommands: [ResolveCommand.self, RewriteCommand.self, RestoreCommand.self])
}
