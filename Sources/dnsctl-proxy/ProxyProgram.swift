// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DnsctlCommands

/// The program that `dnsctl proxy` and `dnsctl exec` start; separate, since its event loops would slow down every start
/// of dnsctl.
@main
struct ProxyProgram: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dnsctl", abstract: "Serves as a proxy, and runs programs through one.",
    version: Dnsctl.configuration.version, subcommands: [ProxyCommand.self, ExecCommand.self])

  static func main() {
    ServiceStart.becomeProgram()
    InheritedDescriptors.take()
    // An event loop, and what waits for the child.
    Dnsctl.start(threads: 2) { await Dnsctl.main(Dnsctl.asksForCompletions ? AllCommands.self : self) }
  }
}

/// All commands with their options, this program's own in their places, for the completion of shells.
private struct AllCommands: AsyncParsableCommand {
  private static let own: [any ParsableCommand.Type] = [ProxyCommand.self, ExecCommand.self]

  static let configuration = CommandConfiguration(
    commandName: "dnsctl", abstract: Dnsctl.configuration.abstract, version: Dnsctl.configuration.version,
    subcommands: Dnsctl.configuration.subcommands.map { command in
      own.first { $0.configuration.commandName == command.configuration.commandName } ?? command
    })
}
