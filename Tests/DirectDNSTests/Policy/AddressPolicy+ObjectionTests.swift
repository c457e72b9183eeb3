// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct AddressPolicyObjectionTests {
  private func objection(
    _ policy: AddressPolicy, _ address: String, host: String? = nil
  ) throws -> AddressPolicy.Objection {
    try #require(policy.objection(to: Sample.address(address), host: try host.map { try WebURL.Host($0) }))
  }

  @Test func `a special purpose is named with its range, its registry name and its source`() throws {
    let objection = try objection(.publicOnly, "10.1.2.3", host: "intranet.example")
    #expect(objection.range == IPNetwork("10.0.0.0/8"))
    #expect(objection.rangeName == "Private-Use")
    #expect(
      objection.remedy
        == "add 10.0.0.0/8 (or the address) to allowedNetworks (configuration file: addressPolicy.allow; dnsctl: --allow 10.1.2.3/32)"
    )
    #expect(
      objection.description == """
        The address 10.1.2.3 of intranet.example lies in 10.0.0.0/8 (Private-Use, RFC 1918), which the address policy \
        publicOnly forbids; to allow it, \(objection.remedy).
        """)
  }

  @Test func `an address alone and a literal host are named once`() throws {
    let start = "The address 10.1.2.3 lies in 10.0.0.0/8 "
    #expect(try objection(.publicOnly, "10.1.2.3").description.hasPrefix(start))
    #expect(try objection(.publicOnly, "10.1.2.3", host: "10.1.2.3").description.hasPrefix(start))
  }

  @Test func `a range of one address is not offered twice`() throws {
    #expect(
      try objection(.publicOnly, "::1").remedy
        == "add ::1/128 to allowedNetworks (configuration file: addressPolicy.allow; dnsctl: --allow ::1/128)")
  }

  @Test func `the IPv4 address inside is named, and it is what must be allowed`() throws {
    let objection = try objection(.publicOnly, "64:ff9b::10.1.2.3", host: "a.example")
    #expect(
      objection.description == """
        The address 64:ff9b::a01:203 of a.example stands for 10.1.2.3; that lies in 10.0.0.0/8 (Private-Use, \
        RFC 1918), which the address policy publicOnly forbids; to allow it, add 10.0.0.0/8 (or the address) to \
        allowedNetworks (configuration file: addressPolicy.allow; dnsctl: --allow 10.1.2.3/32).
        """)
    #expect(objection.address == Sample.address("64:ff9b::10.1.2.3"))
    #expect(objection.judgedAddress == Sample.address("10.1.2.3"))
  }

  @Test func `a fake address of a proxy is explained`() throws {
    let text = try objection(.publicOnly, "198.18.0.7", host: "www.example.net").description
    #expect(text.contains("198.18.0.0/15 (Benchmarking, RFC 2544)"))
    #expect(text.contains("proxies in fake-IP mode answer with such addresses"))
    #expect(try !objection(.publicOnly, "10.0.0.1").description.contains("proxies"))
  }

  @Test func `an address outside the allowed networks is told which they are`() throws {
    let two = AddressPolicy(.networks(["10.0.0.0/8", "fd00::/8"].map(IPNetwork.init(constant:))))
    let objection = try objection(two, "8.8.8.8", host: "a.example")
    #expect(objection.range == nil && objection.rangeName == nil)
    #expect(
      objection.description == """
        The address 8.8.8.8 of a.example lies in none of the networks that the address policy allows (10.0.0.0/8, \
        fd00::/8); to allow it, add 8.8.8.8/32 to allowedNetworks (configuration file: addressPolicy.allow; dnsctl: --allow 8.8.8.8/32).
        """)
    let four = (0..<4).map { IPNetwork(.ipv4(0x0A00_0000 + $0)) }
    #expect(try self.objection(AddressPolicy(.networks(four)), "8.8.8.8").description.contains("10.0.0.3/32)"))
    let five = four + [IPNetwork(constant: "fd00::/8")]
    #expect(try self.objection(AddressPolicy(.networks(five)), "8.8.8.8").description.contains("10.0.0.3/32, …)"))
    let many = (0..<9).map { IPNetwork(.ipv4(0x0A00_0000 + $0)) }
    #expect(try self.objection(AddressPolicy(.networks(many)), "8.8.8.8").description.contains("10.0.0.3/32, …)"))
    #expect(try self.objection(AddressPolicy(.networks([])), "8.8.8.8").description.contains("(it names none)"))
  }

  @Test func `the host's other addresses are counted where there are some`() throws {
    let objection = try objection(.publicOnly, "10.1.2.3")
    #expect(objection.message(amongOf: 1) == objection.description)
    let others = "; its other addresses (1) are forbidden too."
    #expect(objection.message(amongOf: 2) == "\(objection.description.dropLast())\(others)")
  }

  @Test func `a denied network is named`() throws {
    let policy = AddressPolicy(.any, deniedNetworks: [IPNetwork(constant: "10.0.0.0/8")])
    let objection = try objection(policy, "::ffff:10.1.2.3", host: "a.example")
    #expect(objection.range == IPNetwork("10.0.0.0/8") && objection.rangeName == nil)
    #expect(
      objection.description == """
        The address ::ffff:10.1.2.3 of a.example stands for 10.1.2.3; that lies in 10.0.0.0/8, which the address \
        policy denies; to allow it, take 10.0.0.0/8 out of deniedNetworks (configuration file: addressPolicy.deny; dnsctl: leave out that --deny).
        """)
  }

  @Test func `a denied suffix is named`() throws {
    let policy = AddressPolicy(.any, deniedSuffixes: [Sample.name("bad.example")])
    let objection = try objection(policy, "8.8.8.8", host: "www.bad.example")
    #expect(objection.range == nil)
    #expect(
      objection.description == """
        www.bad.example lies below bad.example, which the address policy denies; to allow it, take bad.example \
        out of deniedSuffixes (configuration file: addressPolicy.deny; dnsctl: leave out that --deny).
        """)
  }

  @Test(arguments: ["bad.example", "bad.example."]) func `a denied name itself is named once`(_ host: String) throws {
    let policy = AddressPolicy(.any, deniedSuffixes: [Sample.name("bad.example")])
    #expect(
      try objection(policy, "8.8.8.8", host: host).description
        == """
        The address policy denies bad.example; to allow it, take bad.example out of deniedSuffixes (configuration file: \
        addressPolicy.deny; dnsctl: leave out that --deny).
        """)
  }
}
