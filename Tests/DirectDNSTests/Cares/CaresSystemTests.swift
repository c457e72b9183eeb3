// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS

struct CaresSystemTests {
  @Test func `the system's configuration is the same until a file of it changes`() throws {
    let folder = try FileFolder()
    func system() -> CaresSystem { CaresSystem(resolvConf: folder / "resolv.conf") }
    let none = system()
    #expect(none == system())
    try folder.write("nameserver 192.0.2.1\n", to: "resolv.conf")
    let some = system()
    #expect(some != none && some == system())
    try folder.write("nameserver 192.0.2.20\n", to: "resolv.conf")
    #expect(system() != some)
  }

  @Test func `another resolv.conf is another configuration`() {
    #expect(CaresSystem(resolvConf: "/nowhere/a") != CaresSystem(resolvConf: "/nowhere/b"))
  }
}

struct RoutesTests {
  @Test(arguments: [(IPAddress.Family.ipv4, "/proc/net/route"), (.ipv6, "/proc/net/ipv6_route")])
  func `a family has a route when the kernel's table leads beyond this machine`(
    _ family: IPAddress.Family, _ table: String
  ) throws {
    let lines = ((try? String(contentsOfFile: table, encoding: .utf8)) ?? "").split(separator: "\n")
    // A default route: destination and mask are zero, and it is not the kernel's own refusal on `lo`.
    let hasDefault = lines.contains { line in
      let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).map(String.init)
      return family == .ipv4
        ? words.count > 7 && words[1] == "00000000" && words[7] == "00000000"
        : words.count > 9 && words[0].allSatisfy { $0 == "0" } && words[1] == "00" && words[9] != "lo"
    }
    // Without one there may still be a narrower route, so only the one direction is certain.
    if hasDefault { #expect(Routes.exists(for: family)) }
    if lines.isEmpty { #expect(!Routes.exists(for: family)) }
  }

  @Test func `asking leaves no descriptor open`() async {
    await #expect(processExitsWith: .success) {
      _ = Routes.exists(for: .ipv4)
      // Room for what the runtime opens when it first needs it; four hundred would be a leak.
      let before = ProcessState.descriptors + 10
      for _ in 0..<200 { for family in IPAddress.Family.allCases { _ = Routes.exists(for: family) } }
      #expect(ProcessState.descriptors <= before)
    }
  }
}
