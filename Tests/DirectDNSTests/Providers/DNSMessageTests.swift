// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct DNSMessageTests {
  @Test(arguments: [
    (0 as UInt16, "NOERROR"), (1, "FORMERR"), (2, "SERVFAIL"), (3, "NXDOMAIN"), (4, "NOTIMP"), (5, "REFUSED"),
    (6, "RCODE6"), (16, "RCODE16"), (4095, "RCODE4095"),
  ])
  func `a response code is written as its mnemonic or number`(_ code: UInt16, _ text: String) {
    #expect(DNSMessage.ResponseCode(rawValue: code).description == text)
  }

  @Test func `a message is by default a query that wants recursion, with the id 0`() throws {
    let question = DNSQuestion(name: try #require(DNSName("shop.test")), type: .a)
    let message = DNSMessage(questions: [question])
    #expect(message.id == 0 && !message.isResponse && message.opcode == 0 && message.recursionDesired)
    #expect(!message.isTruncated && !message.recursionAvailable && !message.isAuthoritative)
    #expect(message.responseCode == .noError && message.edns == nil && message.answers.isEmpty)
  }

  @Test func `extended errors are a code and a text`() {
    let edns = DNSMessage.EDNS(options: [
      .init(code: 15, data: [0, 22] + Array("no authority".utf8)), .init(code: 10, data: [1, 2, 3]),
      .init(code: 15, data: [1]), .init(code: 15, data: []), .init(code: 15, data: [0xff, 0xff]),
      .init(code: 15, data: [0, 3, 0xff]), .init(code: 15, data: [0, 6] + Array("bogus\u{0}".utf8)),
    ])
    #expect(edns.extendedErrors.map(\.code) == [22, 0xffff, 3, 6])
    #expect(edns.extendedErrors.map(\.text) == ["no authority", "", "\u{fffd}", "bogus"])
    #expect(DNSMessage.EDNS().payloadSize == 1232)
  }
}
