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

  /// Bytes of data, how many records of it, and how many of them have room: each takes 18 bytes besides, `a.test` and all,
  /// and a message has 12 of its own.
  @Test(arguments: [
    (65_505, 1, 1), (65_506, 1, 0), (65_535, 1, 0), (65_536, 1, 0), (200_000, 1, 0), (32_743, 2, 2), (32_744, 2, 1),
    (0, 3_640, 3_640), (0, 3_641, 3_640), (0, 70_000, 3_640),
  ])
  func `records that have no room are left out, and the message says so`(_ size: Int, _ count: Int, _ kept: Int) throws
  {
    let record = DNSRecord(
      owner: try #require(DNSName("a.test")), type: .init(rawValue: 65280), ttl: 1,
      data: .opaque([UInt8](repeating: 7, count: size)))
    for section in [\DNSMessage.answers, \.authorities, \.additionals] {
      var message = DNSMessage(questions: [])
      message[keyPath: section] = Array(repeating: record, count: count)
      let bytes = message.encoded()
      #expect(bytes.count <= 65_535)
      let read = try DNSMessage(decoding: bytes)
      #expect(read.isTruncated == (kept < count))
      #expect(read[keyPath: section] == Array(repeating: record, count: kept))
    }
  }

  @Test func `what stands behind a record without room is left out as well, but not EDNS`() throws {
    let name = try #require(DNSName("a.test"))
    func record(_ size: Int) -> DNSRecord {
      DNSRecord(owner: name, type: .txt, ttl: 1, data: .opaque([UInt8](repeating: 7, count: size)))
    }
    var message = DNSMessage(questions: [DNSQuestion(name: name, type: .txt)], answers: [record(1), record(65_480)])
    message.authorities = [record(2)]
    message.edns = DNSMessage.EDNS()
    let read = try DNSMessage(decoding: message.encoded())
    #expect(read.questions == message.questions)
    #expect(read.answers == [record(1)])
    #expect(read.authorities == [])
    #expect(read.edns == message.edns)
    #expect(read.isTruncated)
  }

  @Test func `options of EDNS and a binding's parameters that have no room are no crash either`() throws {
    var message = DNSMessage(questions: [])
    let (long, short) = ([UInt8](repeating: 1, count: 65_000), [UInt8](repeating: 2, count: 600))
    message.edns = DNSMessage.EDNS(options: [.init(code: 1, data: long), .init(code: 2, data: short)])
    var read = try DNSMessage(decoding: message.encoded())
    #expect(read.edns?.options == [.init(code: 1, data: long)])
    #expect(read.isTruncated)
    // An option that no message has room for costs no record.
    let question = DNSQuestion(name: try #require(DNSName("a.test")), type: .a)
    message = DNSMessage(
      questions: [question], edns: .init(options: [.init(code: 1, data: [UInt8](repeating: 1, count: 70_000))]))
    read = try DNSMessage(decoding: message.encoded())
    #expect(read.questions == [question])
    #expect(read.edns?.options == [])
    #expect(read.isTruncated)
    let name = try #require(DNSName("a.test"))
    let binding = ServiceBinding(priority: 1, target: name, parameters: [1: [UInt8](repeating: 0, count: 70_000)])
    let record = DNSRecord(owner: name, type: .https, ttl: 1, data: .binding(binding))
    message = DNSMessage(questions: [], answers: [record])
    read = try DNSMessage(decoding: message.encoded())
    #expect(read.answers == [])
    #expect(read.isTruncated)
  }

  @Test func `data that no message can carry is left out like what has no room`() throws {
    let name = try #require(DNSName("a.test"))
    let tag = String(repeating: "a", count: 256)
    for data in [
      RecordData.presentation("x"), .text([[UInt8](repeating: 7, count: 256)]),
      .certificationAuthority(flags: 0, tag: tag, value: []),
    ] {
      let record = DNSRecord(owner: name, type: .txt, ttl: 1, data: data)
      let read = try DNSMessage(decoding: DNSMessage(questions: [], answers: [record]).encoded())
      #expect(read.answers == [] && read.isTruncated, "\(data)")
    }
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
