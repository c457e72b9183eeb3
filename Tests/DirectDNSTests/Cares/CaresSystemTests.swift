// SPDX-License-Identifier: Apache-2.0
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
