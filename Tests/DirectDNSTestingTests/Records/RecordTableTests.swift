// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Testing

struct RecordTableTests {
  private func lookup(
    _ name: String, _ type: DNSRecordType = .a, in table: RecordTable = .sample
  ) throws -> RecordTable.Lookup {
    table.lookup(try #require(DNSName(name)), type)
  }

  @Test func `addresses are split by family and keep their order and TTL`() throws {
    let four = try lookup("www.example.com")
    #expect(four.addresses.map(\.description) == ["192.0.2.1", "192.0.2.2"])
    #expect(four.answers.allSatisfy { $0.ttl == 60 && $0.type == .a })
    #expect(try lookup("www.example.com", .aaaa).addresses.map(\.description) == ["2001:db8::1"])
  }

  @Test func `names are compared without regard to case and final dot`() throws {
    #expect(try lookup("WWW.Example.COM.").addresses.count == 2)
  }

  @Test func `an alias stands in front of what it leads to`() throws {
    let answer = try lookup("shop.example.com")
    #expect(answer.answers.map(\.type) == [.cname, .a, .a])
    #expect(answer.answers.map(\.ttl) == [20, 60, 60])
    #expect(answer.lifetime == 20)
  }

  @Test func `an alias to a name that does not exist is an alias and NXDOMAIN`() throws {
    let table = RecordTable { $0.alias("a.test", to: "b.test") }
    let answer = try lookup("a.test", in: table)
    #expect(answer.responseCode == .nameError)
    #expect(answer.answers.map(\.type) == [.cname])
  }

  @Test(arguments: [(15, 15, true), (16, 16, true), (17, 16, false)])
  func `a chain has 16 aliases at most`(_ length: Int, _ aliases: Int, _ hasAddress: Bool) throws {
    let table = RecordTable {
      for number in 0..<length { $0.alias("n\(number).test", to: "n\(number + 1).test") }
      $0.add("n\(length).test", "192.0.2.1")
    }
    let lookup = table.lookup(try #require(DNSName("n0.test")), .a)
    #expect(lookup.answers.count { $0.type == .cname } == aliases)
    #expect(!lookup.addresses.isEmpty == hasAddress)
  }

  @Test func `a loop of aliases ends`() throws {
    let table = RecordTable {
      $0.alias("a.test", to: "b.test")
      $0.alias("b.test", to: "a.test")
    }
    let answer = try lookup("a.test", in: table)
    #expect(answer.answers.count == 16)
    #expect(answer.addresses.isEmpty)
  }

  @Test func `a name without records of a type is NODATA, with the table's SOA`() throws {
    let answer = try lookup("six.example.com")
    #expect(answer.responseCode == .noError)
    #expect(answer.answers.isEmpty)
    #expect(answer.authorities.map(\.type) == [.soa])
    #expect(answer.lifetime == 60)
  }

  @Test func `a negative answer lives for the smaller number of its own SOA`() throws {
    #expect(try lookup("empty.example.com").lifetime == 30)
    #expect(try lookup("gone.example.com").authorities.isEmpty)
    #expect(try lookup("gone.example.com").responseCode == .nameError)
  }

  @Test func `an unknown name is NXDOMAIN, without an SOA when the table has none`() throws {
    #expect(try lookup("unknown.test").responseCode == .nameError)
    #expect(try lookup("unknown.test").authorities.count == 1)
    var table = RecordTable()
    table.negative = nil
    #expect(try lookup("unknown.test", in: table).authorities.isEmpty)
  }

  @Test func `a failing name says its code and nothing else`() throws {
    let answer = try lookup("broken.example.com")
    #expect(answer == RecordTable.Lookup(responseCode: .serverFailure))
  }

  @Test func `a generator makes up what the table does not hold`() throws {
    var table = RecordTable { $0.missing("host7.flood.test") }
    table.synthesise { name, type in
      guard name.hasSuffix(".flood.test") else { return nil }
      return type == .a ? [.address(name, .ipv4(0xC000_0207), ttl: 5)] : []
    }
    #expect(try lookup("host1.flood.test", in: table).addresses == [.ipv4(0xC000_0207)])
    #expect(try lookup("host1.flood.test", .aaaa, in: table).responseCode == .noError)
    #expect(try lookup("host7.flood.test", in: table).responseCode == .nameError)
    #expect(try lookup("other.test", in: table).responseCode == .nameError)
  }

  @Test func `a removed name does not exist`() throws {
    var table = RecordTable.sample
    table.remove("www.example.com")
    #expect(try lookup("www.example.com", in: table).responseCode == .nameError)
  }
}
