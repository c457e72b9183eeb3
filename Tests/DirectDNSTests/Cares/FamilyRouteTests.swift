// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS

struct FamilyRouteTests {
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
    if hasDefault { #expect(family.hasRoute) }
    if lines.isEmpty { #expect(!family.hasRoute) }
  }

  @Test func `asking leaves no descriptor open`() async {
    await #expect(processExitsWith: .success) {
      _ = IPAddress.Family.ipv4.hasRoute
      // Room for what the runtime opens when it first needs it; four hundred would be a leak.
      let before = ProcessState.descriptors + 10
      for _ in 0..<200 { for family in IPAddress.Family.allCases { _ = family.hasRoute } }
      #expect(ProcessState.descriptors <= before)
    }
  }
}
