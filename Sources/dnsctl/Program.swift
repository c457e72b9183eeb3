internal import DnsctlCommands

@main
enum Program {
  static func main() async { await Dnsctl.main() }
}
