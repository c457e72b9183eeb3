internal import ArgumentParser
internal import DnsctlCommands

/// What `dnsctl proxy` and `dnsctl exec` start: a program of its own, since its event loops would weigh on every start of
/// dnsctl.
@main
struct ProxyProgram: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dnsctl", abstract: "Serves as a proxy, and runs programs through one.",
    version: Dnsctl.configuration.version, subcommands: [ProxyCommand.self, ExecCommand.self])

  static func main() async { await Dnsctl.main(self) }
}
