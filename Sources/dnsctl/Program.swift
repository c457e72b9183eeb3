// SPDX-License-Identifier: Apache-2.0
internal import DnsctlCommands

@main
enum Program {
  static func main() { Dnsctl.start() }
}
