// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct AddressPolicyTests {
  private func networks(_ texts: String...) -> [IPNetwork] { texts.map(IPNetwork.init(constant:)) }

  private func allows(_ policy: AddressPolicy, _ address: String, host: String? = nil) throws -> Bool {
    policy.objection(to: Sample.address(address), host: try host.map { try WebURL.Host($0) }) == nil
  }

  // MARK: The base

  @Test func `the default is public addresses alone`() {
    #expect(AddressPolicy() == .publicOnly)
    #expect(AddressPolicy().base == .publicOnly)
  }

  @Test(arguments: ["127.0.0.1", "10.0.0.1", "169.254.169.254", "0.0.0.0", "::1", "fd00::1", "fe80::1", "2002::1"])
  func `publicOnly forbids what any allows`(_ address: String) throws {
    #expect(try !allows(.publicOnly, address))
    #expect(try allows(.any, address))
  }

  @Test func `networks allows those networks and no others, public ones neither`() throws {
    let policy = AddressPolicy(.networks(networks("10.0.0.0/8", "2001:db8::/32")))
    for address in ["10.0.0.0", "10.255.255.255", "2001:db8::1", "::ffff:10.0.0.1", "64:ff9b::10.0.0.1"] {
      #expect(try allows(policy, address))
    }
    for address in ["11.0.0.0", "8.8.8.8", "2606:4700::1", "::1", "::ffff:11.0.0.1", "64:ff9b::8.8.8.8"] {
      #expect(try !allows(policy, address))
    }
    #expect(try !allows(AddressPolicy(.networks([])), "8.8.8.8"))
  }

  // MARK: The IPv4 address inside

  @Test func `under any policy of networks the mapped and NAT64 forms are judged as the IPv4 address`() throws {
    let prefix = try NAT64Prefix(IPNetwork(constant: "2001:db8:64::/96"))
    let policies = [
      AddressPolicy.publicOnly, .any,
      AddressPolicy(.networks(networks("10.0.0.0/8", "192.0.0.0/4"))),
      AddressPolicy(allowedNetworks: networks("10.0.0.0/9"), deniedNetworks: networks("10.1.0.0/16", "8.0.0.0/7")),
      AddressPolicy(.any, deniedNetworks: networks("0.0.0.0/1")),
    ]
    var generator = SeededGenerator(seed: 5)
    for base in policies {
      var policy = base
      policy.nat64Prefixes = [prefix]
      for _ in 0..<2_000 {
        let blocks: [UInt32] = [0x0A00_0000, 0x7F00_0000, 0xA9FE_0000, 0xC0A8_0000, 0]
        let block = blocks.randomElement(using: &generator) ?? 0
        let value: UInt32 = block | .random(in: 0...(block == 0 ? .max : 0xFF_FFFF), using: &generator)
        let expected = policy.objection(to: .ipv4(value)) == nil
        for (high, low) in [(0, 0xFFFF << 32), (0x0064_FF9B << 32, 0), (0x2001_0DB8_0064_0000, 0)] as [(UInt64, UInt64)]
        {
          #expect((policy.objection(to: .ipv6(high: high, low: low | UInt64(value))) == nil) == expected)
        }
      }
    }
  }

  @Test(arguments: [
    (32, "2001:db8:a00:1::"), (40, "2001:db8:a:0:1::"), (48, "2001:db8:0:a00:0:100::"), (56, "2001:db8:0:a:0:1::"),
    (64, "2001:db8::a:0:100:0"), (96, "2001:db8::a00:1"),
  ])
  func `a NAT64 prefix of any length hides nothing`(_ length: Int, _ address: String) throws {
    let network = try #require(IPNetwork(address: Sample.address("2001:db8::"), prefixLength: length))
    let policy = AddressPolicy(.any, deniedNetworks: networks("10.0.0.1/32"), nat64Prefixes: [try NAT64Prefix(network)])
    let objection = try #require(policy.objection(to: Sample.address(address)))
    #expect(objection.judgedAddress == Sample.address("10.0.0.1"))
    #expect(objection.address == Sample.address(address))
    var without = policy
    without.nat64Prefixes = []
    #expect(try allows(without, address))
  }

  @Test func `a translator's prefix is as public as the address behind it`() throws {
    // RFC 8215's prefix is forbidden until the network says that it is its own.
    let own = AddressPolicy(nat64Prefixes: [try NAT64Prefix(IPNetwork(constant: "64:ff9b:1::/96"))])
    #expect(try !allows(.publicOnly, "64:ff9b:1::8.8.8.8"))
    #expect(try allows(own, "64:ff9b:1::8.8.8.8"))
    #expect(try !allows(own, "64:ff9b:1::192.168.0.1"))
    #expect(try allows(.publicOnly, "64:ff9b::8.8.8.8"))
  }

  @Test func `where prefixes overlap every reading must be allowed`() throws {
    let prefixes = try ["2001:db8::/32", "2001:db8:808:808::/96"].map { try NAT64Prefix(IPNetwork(constant: $0)) }
    #expect(try allows(AddressPolicy(nat64Prefixes: prefixes), "2001:db8:808:808::808:808"))
    #expect(try !allows(AddressPolicy(nat64Prefixes: prefixes), "2001:db8:808:808::a00:1"))
    #expect(try !allows(AddressPolicy(nat64Prefixes: prefixes), "2001:db8:a00:1::808:808"))
  }

  @Test(arguments: ["::8.8.8.8", "::ffff:0:8.8.8.8", "2002:808:808::1", "2001:0:808:808::1", "2606:4700::5efe:808:808"])
  func `forms of old tunnels are forbidden whatever they hold`(_ address: String) throws {
    #expect(try !allows(.publicOnly, address))
  }

  // MARK: The unspecified address

  /// Spellings of the unspecified address, and the loopback address that each reaches.
  static let unspecified = [
    ("0.0.0.0", "127.0.0.1"), ("::", "::1"), ("::0.0.0.0", "::1"), ("::ffff:0.0.0.0", "127.0.0.1"),
    ("64:ff9b::", "127.0.0.1"), ("2001:db8:64::", "127.0.0.1"),
  ]

  @Test(arguments: unspecified)
  func `the unspecified address is judged as loopback by every policy and list`(
    _ address: String, _ loopback: String
  ) throws {
    let prefix = try NAT64Prefix(IPNetwork(constant: "2001:db8:64::/96"))
    let local = networks("127.0.0.0/8", "::1/128")
    let elsewhere = networks("10.0.0.0/8", "fd00::/8")
    let name = [Sample.name("corp.example")]
    for (policy, isAllowed) in [
      (AddressPolicy(.any, deniedNetworks: local), false), (AddressPolicy(.any, deniedNetworks: elsewhere), true),
      (AddressPolicy(.any), true), (AddressPolicy(), false), (AddressPolicy(allowedNetworks: local), true),
      (AddressPolicy(.networks(local)), true), (AddressPolicy(.networks(elsewhere)), false),
      (AddressPolicy(.any, allowedNetworks: networks("0.0.0.0/0", "::/0"), deniedNetworks: local), false),
      (AddressPolicy(deniedNetworks: local, allowedSuffixes: name), false),
      (AddressPolicy(.networks(networks("0.0.0.0/0", "::/0")), deniedNetworks: local), false),
      // Denied by its own spelling too.
      (AddressPolicy(.any, deniedNetworks: networks("0.0.0.0/8", "::/128")), false),
    ] {
      var policy = policy
      policy.nat64Prefixes = [prefix]
      #expect(try allows(policy, address, host: "www.corp.example") == isAllowed, "\(address) by \(policy)")
    }
    var policy = AddressPolicy.publicOnly
    policy.nat64Prefixes = [prefix]
    let objection = try #require(policy.objection(to: Sample.address(address)))
    #expect(objection.judgedAddress == Sample.address(loopback))
    #expect(objection.range == IPNetwork(loopback == "::1" ? "::1/128" : "127.0.0.0/8"))
    #expect(objection.description.contains("The address \(address == "::0.0.0.0" ? "::" : address)"))
    #expect(objection.description.contains("stands for \(loopback)"))
  }

  @Test(arguments: ["0.0.0.1", "0.255.255.255"])
  func `the rest of 0.0.0.0/8 is judged as what it is`(_ address: String) throws {
    #expect(try allows(AddressPolicy(.any, deniedNetworks: networks("127.0.0.0/8")), address))
    #expect(try !allows(.publicOnly, address))
    #expect(try !allows(AddressPolicy(allowedNetworks: networks("127.0.0.0/8")), address))
  }

  // MARK: The lists

  @Test func `an allowed network is allowed though the base forbids it`() throws {
    let policy = AddressPolicy(allowedNetworks: networks("10.20.0.0/16", "fd00:1::/32"))
    for address in ["10.20.0.0", "10.20.255.255", "fd00:1::1", "::ffff:10.20.1.1", "64:ff9b::10.20.1.1", "8.8.8.8"] {
      #expect(try allows(policy, address))
    }
    for address in ["10.19.255.255", "10.21.0.0", "fd00:2::1", "::ffff:10.21.0.0"] {
      #expect(try !allows(policy, address))
    }
  }

  @Test func `an allowed network of mapped or translated addresses allows those spellings alone`() throws {
    let policy = AddressPolicy(allowedNetworks: networks("::ffff:10.0.0.0/104"))
    #expect(try allows(policy, "::ffff:10.0.0.1"))
    #expect(try !allows(policy, "10.0.0.1"))
  }

  @Test(arguments: ["10.1.2.3", "::ffff:10.1.2.3", "64:ff9b::10.1.2.3"])
  func `denied beats allowed, whatever allows`(_ address: String) throws {
    let denied = networks("10.1.2.0/24")
    let name = [Sample.name("corp.example")]
    for policy in [
      AddressPolicy(.any, deniedNetworks: denied),
      AddressPolicy(.networks(networks("10.0.0.0/8", "::/0")), deniedNetworks: denied),
      AddressPolicy(allowedNetworks: networks("10.1.2.3/32", "::/0"), deniedNetworks: denied),
      AddressPolicy(deniedNetworks: denied, allowedSuffixes: name),
    ] {
      #expect(try !allows(policy, address, host: "www.corp.example"))
      #expect(policy.objection(to: Sample.address(address))?.range == denied[0])
    }
  }

  @Test func `a denied network of IPv6 spellings is honoured too`() throws {
    let policy = AddressPolicy(.any, deniedNetworks: networks("64:ff9b::/96"))
    #expect(try !allows(policy, "64:ff9b::8.8.8.8"))
    #expect(try allows(policy, "8.8.8.8"))
  }

  @Test func `a denied network of all mapped addresses denies IPv4`() throws {
    let policy = AddressPolicy(.any, deniedNetworks: networks("::ffff:0:0/96"))
    for address in ["8.8.8.8", "0.0.0.1", "::ffff:8.8.8.8"] { #expect(try !allows(policy, address)) }
    #expect(try allows(policy, "2606:4700::1"))
  }

  @Test func `names under an allowed suffix may have any address but a denied one`() throws {
    let policy = AddressPolicy(
      deniedNetworks: networks("169.254.0.0/16"), allowedSuffixes: [Sample.name("corp.example")])
    for host in ["corp.example", "www.corp.example", "a.b.corp.example", "www.corp.example.", "WWW.Corp.Example"] {
      #expect(try allows(policy, "10.0.0.1", host: host))
      #expect(try !allows(policy, "169.254.169.254", host: host))
    }
    for host in ["example", "xcorp.example", "corp.example.net", "10.0.0.1"] {
      #expect(try !allows(policy, "10.0.0.1", host: host))
    }
    #expect(try !allows(policy, "10.0.0.1"))
  }

  @Test func `names under a denied suffix get nothing, whatever allows`() throws {
    let policy = AddressPolicy(
      .any, allowedNetworks: networks("0.0.0.0/0"), allowedSuffixes: [Sample.name("example")],
      deniedSuffixes: [Sample.name("bad.example")])
    for host in ["bad.example", "www.bad.example", "bad.example.", "a..bad.example", ".bad.example", "b!d.bad.example"]
    {
      #expect(try !allows(policy, "8.8.8.8", host: host))
    }
    for host in ["notbad.example", "bad.example.net", "example", "8.8.8.8"] {
      #expect(try allows(policy, "8.8.8.8", host: host))
    }
    #expect(try allows(policy, "8.8.8.8"))
  }

  @Test func `the order of rules holds for any lists`() {
    var generator = SeededGenerator(seed: 13)
    let pool = networks("0.0.0.0/1", "10.0.0.0/8", "10.0.0.0/9", "8.0.0.0/8", "128.0.0.0/1", "192.168.0.0/16")
    for _ in 0..<5_000 {
      let denied = pool.filter { _ in Int.random(in: 0..<5, using: &generator) == 0 }
      let allowed = pool.filter { _ in Int.random(in: 0..<3, using: &generator) == 0 }
      let base = [AddressPolicy.Base.publicOnly, .any, .networks(allowed)].randomElement(using: &generator) ?? .any
      let policy = AddressPolicy(base, allowedNetworks: allowed, deniedNetworks: denied)
      let address = IPAddress.ipv4(.random(in: 0...(.max), using: &generator))
      let isPublic = SpecialPurposeNetworks.forbidding(address) == nil
      let expected =
        !denied.contains { $0.contains(address) }
        && (allowed.contains { $0.contains(address) } || base == .any || (base == .publicOnly && isPublic))
      #expect((policy.objection(to: address) == nil) == expected)
    }
  }

  // MARK: A host's addresses

  @Test func `forbidden addresses are dropped and the others keep their order`() throws {
    let addresses = Sample.addresses("10.0.0.1", "8.8.8.8", "::1", "2606:4700::1", "1.1.1.1", "8.8.8.8")
    let host = try WebURL.Host("www.example.net")
    #expect(
      try AddressPolicy.publicOnly.allowed(addresses, for: host)
        == Sample.addresses("8.8.8.8", "2606:4700::1", "1.1.1.1", "8.8.8.8"))
    #expect(try AddressPolicy.any.allowed(addresses, for: host) == addresses)
    #expect(try AddressPolicy.publicOnly.allowed([], for: host) == [])
  }

  @Test func `the host's name counts for the lists of suffixes`() throws {
    let policy = AddressPolicy(allowedSuffixes: [Sample.name("corp.example")])
    let addresses = Sample.addresses("10.0.0.1")
    #expect(try policy.allowed(addresses, for: WebURL.Host("www.corp.example")) == addresses)
    #expect(throws: DirectDNSError.self) { try policy.allowed(addresses, for: WebURL.Host("www.example.net")) }
  }

  @Test func `with none left it fails, and says of the first why and what would help`() throws {
    let error = #expect(throws: DirectDNSError.self) {
      try AddressPolicy.publicOnly.allowed(
        Sample.addresses("169.254.169.254", "::1", "10.0.0.1"), for: WebURL.Host("metadata.example"))
    }
    #expect(error?.code == .addressForbidden)
    #expect(
      error?.message == """
        The address 169.254.169.254 of metadata.example lies in 169.254.0.0/16 (Link Local, RFC 3927), which the \
        address policy publicOnly forbids; to allow it, add 169.254.0.0/16 (or the address) to allowedNetworks \
        (configuration file: addressPolicy.allow; dnsctl: --allow 169.254.169.254/32); its other addresses (2) are forbidden too.
        """)
  }

  @Test func `a denied network of mapped addresses denies the IPv4 addresses too, and none beyond`() throws {
    let policy = AddressPolicy(.any, deniedNetworks: ["::ffff:10.0.0.0/104", "::/64"].compactMap { IPNetwork($0) })
    for (address, isDenied) in [
      ("10.1.2.3", true), ("::ffff:10.1.2.3", true), ("11.0.0.1", false), ("::1", true), ("2001:db8::1", false),
    ] {
      #expect((policy.objection(to: try #require(IPAddress(address))) != nil) == isDenied, "\(address)")
    }
  }

  @Test func `a host is checked before any address of it is known`() throws {
    let policy = AddressPolicy(deniedSuffixes: [try HostName("evil.example")])
    #expect(throws: Never.self) { try policy.check(WebURL.Host("good.example")) }
    for host in ["evil.example", "www.EVIL.example."] {
      let error = #expect(throws: DirectDNSError.self) { try policy.check(WebURL.Host(host)) }
      #expect(error?.code == .addressForbidden)
      #expect(error?.message.contains("take evil.example out of deniedSuffixes") == true)
    }
  }
}
