// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct DNSNameTests {
  @Test(arguments: [
    ("www.shop.test", "www.shop.test."), ("WWW.Shop.TEST.", "www.shop.test."), (".", "."), ("", "."),
    ("_dmarc.shop.test", "_dmarc.shop.test."), (#"a\.b.test"#, #"a\.b.test."#),
    (#"a\\b.test"#, #"a\\b.test."#), (#"\065bc.test"#, "abc.test."), (#"\000\255.test"#, #"\000\255.test."#),
    ("a b.test", #"a\032b.test."#), ("ü.test", #"\195\188.test."#), (#"\*.test"#, "*.test."),
  ])
  func `a presentation text is read and written as RFC 1035 has it`(_ text: String, _ canonical: String)
    throws
  {
    let name = try #require(DNSName(text))
    #expect(name.description == canonical)
    #expect(DNSName(name.description) == name)
  }

  @Test(arguments: [
    "..", "a..b", ".a", "a.b..", #"a\"#, #"a\1"#, #"a\12"#, #"a\12x"#, #"a\256"#, #"a\999.test"#,
    String(repeating: "a", count: 64), "a." + String(repeating: "b", count: 64) + ".c",
    String(repeating: "abcdefg.", count: 32) + "a",
  ])
  func `what spells no name is refused`(_ text: String) { #expect(DNSName(text) == nil) }

  @Test func `a name has at most 255 bytes on the wire`() throws {
    let label = String(repeating: "x", count: 63)
    let longest = [label, label, label, String(repeating: "y", count: 61)].joined(separator: ".")
    #expect(try #require(DNSName(longest)).wire.count == 255)
    #expect(DNSName(longest + "y") == nil)
    #expect(try DNSName(HostName(longest)).wire.count == 255)
  }

  @Test func `names differ by their bytes, not by their case`() {
    func wire(_ text: String) -> [UInt8]? { DNSName(text)?.wire }
    #expect(wire("A.Test") == [1, 0x61, 4, 0x74, 0x65, 0x73, 0x74, 0])
    #expect(DNSName("A.Test") == DNSName("a.test.") && DNSName(#"\065.test"#) == DNSName("a.test"))
    #expect(DNSName("a.test") != DNSName(#"a\.test"#))
    #expect(DNSName("a.test").hashValue == DNSName("A.TEST").hashValue)
  }

  @Test(arguments: ["a", "www.shop.test", "x--y_z.shop.test", "xn--mnchen-3ya.test"])
  func `a host's name is the name that its text spells, and leads back to it`(_ text: String) throws {
    let host = try HostName(text)
    #expect(DNSName(host) == DNSName(text))
    #expect(DNSName(host).hostName == host)
  }

  @Test(arguments: [".", "a b.test", #"a\.b.test"#, "1.2.3.4", "a.0x1", "*.test", #"\000.test"#])
  func `a name that no host has is no host name`(_ text: String) throws {
    #expect(try #require(DNSName(text)).hostName == nil)
  }

  @Test(arguments: [
    ("www.shop.test", true), ("www.shop.test.", true), ("WWW.Shop.TEST", true), ("www.shop.tes", false),
    ("www.shop.testx", false), ("www.shop.test..", false), (".www.shop.test", false), ("wwwxshop.test", false),
    ("www.shopxtest", false), ("ww.wshop.test", false), ("www.sho\\p.test", false), ("", false), (".", false),
    ("xww.shop.test", false),
  ])
  func `a name says of a text whether it spells it`(_ text: String, _ expected: Bool) throws {
    #expect(try #require(DNSName("www.shop.test")).isSpelled(by: text.utf8.span) == expected)
  }

  @Test func `a text with an escape is left to those who read it`() throws {
    let name = try #require(DNSName(#"a\.b.test"#))
    #expect(!name.isSpelled(by: #"a\.b.test"#.utf8.span) && !name.isSpelled(by: "a.b.test".utf8.span))
    let slash = try #require(DNSName(#"a\\b"#))
    #expect(!slash.isSpelled(by: #"a\b"#.utf8.span) && !DNSName.root.isSpelled(by: ".".utf8.span))
  }

  @Test func `labels are the bytes between the dots`() throws {
    #expect(try #require(DNSName(#"a\.b.c"#)).labels == [Array("a.b".utf8), Array("c".utf8)])
    #expect(DNSName.root.labels == [])
  }

  @Test(arguments: [
    ("a.shop.test", "shop.test", true), ("shop.test", "shop.test", true), ("shop.test", ".", true),
    (".", ".", true), (".", "test", false), ("shop.test", "a.shop.test", false),
    ("xshop.test", "shop.test", false),
    ("shop.test", "other.test", false), (#"a\.shop.test"#, "shop.test", false), ("test.shop", "test", false),
  ])
  func `a zone holds itself and what lies below it, by whole labels`(
    _ name: String, _ zone: String, _ expected: Bool
  ) throws {
    #expect(try #require(DNSName(name)).isWithin(#require(DNSName(zone))) == expected)
  }

  @Test func `no bytes of a label can make one name look like another`() throws {
    // A label's bytes may look like a length and a label: `isWithin` must walk from label to label.
    let tricky = DNSName(wire: [7, 1, 4] + Array("test".utf8) + [0, 0])
    #expect(!tricky.isWithin(try #require(DNSName("test"))))
  }
}

struct DNSNameAskingTests {
  @Test(arguments: [
    ("192.0.2.1", "1.2.0.192.in-addr.arpa."), ("0.0.0.0", "0.0.0.0.in-addr.arpa."),
    ("2001:db8::1", "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa."),
  ])
  func `an address has a name in reverse`(_ address: String, _ name: String) throws {
    #expect(DNSName(reverse: try #require(IPAddress(address))).description == name)
    // It is what the same text would be read as.
    #expect(DNSName(reverse: try #require(IPAddress(address))) == DNSName(name))
  }

  @Test(arguments: [
    ("Example.COM", "example.com."), ("example.com.", "example.com."), ("bücher.example", "xn--bcher-kva.example."),
    (".", "."), ("*.example.com", "*.example.com."), (#"a\.b.example"#, #"a\.b.example."#), ("com", "com."),
    ("_sip._tcp.example.com", "_sip._tcp.example.com."), ("0/25.2.0.192.in-addr.arpa", "0/25.2.0.192.in-addr.arpa."),
  ])
  func `a name is asked for as people write it, be it no host's`(_ text: String, _ name: String) throws {
    #expect(try DNSName(asking: text).description == name)
  }

  @Test(arguments: [
    ("192.0.2.1", "1.2.0.192.in-addr.arpa"), ("https://example.com/", "give example.com alone"),
    ("", "The host is empty"), ("a..b", "has an empty label"), ("*..b", #"contains "*", but only letters"#),
    ("a b", #"contains " ", which no host may have"#), ("*. b", #"contains " ", which no host may have"#),
  ])
  func `what is no name is refused with the reason`(_ text: String, _ advice: String) {
    let error = #expect(throws: DirectDNSError.self) { try DNSName(asking: text) }
    #expect(error?.code == .invalidName && error?.message.contains(advice) == true, "\(String(describing: error))")
  }
}
