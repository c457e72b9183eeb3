// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct AddressReplyTests {
  private let question = AddressQuestion("www.shop.test")

  /// A response whose records point to the question's name, as servers send it.
  private func response(
    _ question: AddressQuestion, _ addresses: [String], ttl: UInt32 = 60, hasOPT: Bool = true
  ) throws -> [UInt8] {
    var bytes = DNSMessage.query(question)
    bytes[2] = 0x81
    bytes[3] = 0x80
    bytes[7] = UInt8(addresses.count)
    bytes[11] = hasOPT ? 1 : 0
    for text in addresses {
      let address = try #require(IPAddress(text)).bytes
      bytes += [0xc0, 0x0c, 0, UInt8(question.type.rawValue), 0, 1]
      bytes += (0..<4).map { UInt8(truncatingIfNeeded: ttl >> (24 - 8 * $0)) }
      bytes += [0, UInt8(address.count)] + address
    }
    return bytes + (hasOPT ? [0, 0, 41, 0x04, 0xd0, 0, 0, 0, 0, 0, 0] : [])
  }

  private func whole(_ bytes: [UInt8], _ question: AddressQuestion, _ freshness: HTTPFreshness = .init()) -> Answer? {
    try? DNSMessage.answer(from: bytes, to: question.message, id: 0, freshness: freshness)
  }

  @Test(arguments: [true, false])
  func `the usual response is read, and as the whole message would be`(_ hasOPT: Bool) throws {
    let cases: [(IPAddress.Family, [String], UInt32)] = [
      (.ipv4, ["192.0.2.1"], 60), (.ipv4, ["192.0.2.1", "192.0.2.2", "192.0.2.1"], 0), (.ipv4, ["192.0.2.9"], .max),
      (.ipv6, ["2001:db8::1", "2001:db8:ffff::2"], 5),
    ]
    for (family, addresses, ttl) in cases {
      let question = AddressQuestion("www.shop.test", family)
      let bytes = try response(question, addresses, ttl: ttl, hasOPT: hasOPT)
      let freshness = HTTPFreshness(age: "3", cacheControl: "max-age=50")
      let answer = AddressReply.answer(from: bytes, to: question, freshness: freshness)
      #expect(answer != nil && answer == whole(bytes, question, freshness))
    }
  }

  @Test func `a name in capitals is the same name`() throws {
    var bytes = try response(question, ["192.0.2.1"])
    bytes[13] = UInt8(ascii: "W")
    #expect(AddressReply.answer(from: bytes, to: question, freshness: .init()) == whole(bytes, question))
  }

  @Test func `no more addresses are kept than of a whole message`() throws {
    let bytes = try response(question, (1...100).map { "192.0.2.\($0)" })
    let answer = AddressReply.answer(from: bytes, to: question, freshness: .init())
    #expect(answer?.addresses.count == Answer.addressLimit && answer == whole(bytes, question))
  }

  @Test func `whatever byte differs, nothing is read that the whole message does not say`() throws {
    let bytes = try response(question, ["192.0.2.1", "192.0.2.2"])
    var read = 0
    for place in bytes.indices {
      for value in UInt8.min...UInt8.max {
        var other = bytes
        other[place] = value
        guard let answer = AddressReply.answer(from: other, to: question, freshness: .init()) else { continue }
        read += 1
        #expect(answer == whole(other, question), "byte \(place) is \(value)")
      }
    }
    // Addresses, TTLs, bits of no meaning here.
    #expect(read > 4000)
  }

  @Test func `what is cut or goes on is left to the whole message`() throws {
    let bytes = try response(question, ["192.0.2.1"])
    for count in 0..<bytes.count {
      #expect(AddressReply.answer(from: Array(bytes.prefix(count)), to: question, freshness: .init()) == nil)
    }
    #expect(AddressReply.answer(from: bytes + [0], to: question, freshness: .init()) == nil)
  }

  @Test func `responses to other questions, without addresses, or with aliases are left to the whole message`() throws {
    let others = [
      AddressQuestion("www.shop.tesu"), .init("www.shop"), .init("ww.shop.test"), .init("www.shop.test.test"),
    ]
    let bytes = try response(question, ["192.0.2.1"])
    for other in others { #expect(AddressReply.answer(from: bytes, to: other, freshness: .init()) == nil) }
    #expect(AddressReply.answer(from: bytes, to: .init("www.shop.test", .ipv6), freshness: .init()) == nil)
    #expect(AddressReply.answer(from: try response(question, []), to: question, freshness: .init()) == nil)
    var alias = DNSMessage(isResponse: true, questions: [question.message])
    alias.answers = [
      DNSRecord(
        owner: question.message.name, type: .cname, ttl: 60,
        data: .name(DNSName(try HostName("a.test"))))
    ]
    #expect(AddressReply.answer(from: alias.encoded(), to: question, freshness: .init()) == nil)
  }
}
