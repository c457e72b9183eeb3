// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DnsctlCommands

/// What `dnsctl proxy` and `dnsctl exec` start: a program of its own, since its event loops would weigh on every start of
/// dnsctl.
@main
struct ProxyProgram: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dnsctl", abstract: "Serves as a proxy, and runs programs through one.",
    version: Dnsctl.configuration.version, subcommands: [ProxyCommand.self, ExecCommand.self])

  static func main() { Dnsctl.start { await Dnsctl.main(Dnsctl.asksForCompletions ? AllCommands.self : self) } }
}

/// Every command with its options, those of this program in their places: what a shell completes.
private struct AllCommands: AsyncParsableCommand {
  private static let own: [any ParsableCommand.Type] = [ProxyCommand.self, ExecCommand.self]

  static let configuration = CommandConfiguration(
    commandName: "dnsctl", abstract: Dnsctl.configuration.abstract, version: Dnsctl.configuration.version,
    subcommands: Dnsctl.configuration.subcommands.map { command in
      own.first { $0.configuration.commandName == command.configuration.commandName } ?? command
    })
}
