// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct DNSMessageEncodingTests {
  @Test func `a query is twelve bytes of head, the name, the type and the class`() throws {
    let name = try #require(DNSName("a.test"))
    let bytes = DNSMessage(id: 0x1234, questions: [DNSQuestion(name: name, type: .aaaa)]).encoded()
    #expect(
      bytes == [0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0x61, 4, 0x74, 0x65, 0x73, 0x74, 0, 0, 28, 0, 1])
  }

  @Test func `the query of RFC 8484 §4.1.1 is encoded as printed there`() throws {
    let question = DNSQuestion(name: try #require(DNSName("www.example.com")), type: .a)
    #expect(
      Base64.urlEncoded(DNSMessage(questions: [question]).encoded())
        == "AAABAAABAAAAAAAAA3d3dwdleGFtcGxlA2NvbQAAAQAB")
  }

  @Test func `each flag has its own bit`() {
    func flags(_ change: (inout DNSMessage) -> Void) -> UInt16 {
      var message = DNSMessage(recursionDesired: false, questions: [])
      change(&message)
      let bytes = message.encoded()
      return UInt16(bytes[2]) << 8 | UInt16(bytes[3])
    }
    #expect(flags { _ in } == 0)
    #expect(flags { $0.isResponse = true } == 0x8000)
    #expect(flags { $0.opcode = 5 } == 0x2800)
    #expect(flags { $0.opcode = 0xff } == 0x7800)
    #expect(flags { $0.isAuthoritative = true } == 0x0400)
    #expect(flags { $0.isTruncated = true } == 0x0200)
    #expect(flags { $0.recursionDesired = true } == 0x0100)
    #expect(flags { $0.recursionAvailable = true } == 0x0080)
    #expect(flags { $0.responseCode = .nameError } == 3)
  }

  @Test func `a response code above 15 needs EDNS for its upper bits`() throws {
    var message = DNSMessage(responseCode: .init(rawValue: 16), questions: [])
    #expect(try DNSMessage(decoding: message.encoded()).responseCode == .noError)
    message.edns = DNSMessage.EDNS()
    #expect(try DNSMessage(decoding: message.encoded()).responseCode.rawValue == 16)
    message.responseCode = .init(rawValue: 4095)
    #expect(try DNSMessage(decoding: message.encoded()).responseCode.rawValue == 4095)
  }

  @Test(arguments: 0..<16 as Range<UInt64>)
  func `what is encoded is decoded to the same`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<50 {
      let message = DNSMessage.random(using: &random)
      #expect(try DNSMessage(decoding: message.encoded()) == message)
    }
  }
}
