// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct AnswerTests {
  @Test func `an answer's addresses are those that were said, and none for a negative one`() {
    #expect(
      Answer.addresses("192.0.2.1", "192.0.2.2").addresses == Sample.addresses("192.0.2.1", "192.0.2.2"))
    #expect(Answer.negative(.nameNotFound).addresses.isEmpty)
    #expect(Answer.negative(.noAddress).addresses.isEmpty)
  }

  @Test func `the two kinds of negative answer differ, and so do their lifetimes`() {
    #expect(Answer.negative(.nameNotFound) != .negative(.noAddress))
    #expect(Answer.negative(.nameNotFound, ttl: 0) != .negative(.nameNotFound, ttl: nil))
    #expect(Answer(.negative(.noAddress), ttl: nil) == .negative(.noAddress, ttl: nil))
  }

  @Test func `an answer keeps its alias`() {
    #expect(
      Answer.addresses("192.0.2.1", alias: "edge.example.net").canonicalName
        == Sample.name("edge.example.net"))
    #expect(Answer.addresses("192.0.2.1").canonicalName == nil)
  }

  @Test func `an address is kept once, and no more of them than an answer may have`() {
    var addresses: [IPAddress] = []
    for number in 0..<UInt32(Answer.addressLimit + 5) {
      for _ in 0..<2 { addresses.keep(.ipv4(number)) }
    }
    #expect(addresses == (0..<UInt32(Answer.addressLimit)).map { IPAddress.ipv4($0) })
  }
}
