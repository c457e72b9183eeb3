// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct DNSMessageDecodingTests {
  /// A response with a pointer in every place that may have one, written by hand.
  private static let good: [UInt8] =
    [0xbe, 0xef, 0x81, 0x80, 0, 1, 0, 3, 0, 1, 0, 1]
    // At 12, with Shop at 16.
    + [3] + Array("www".utf8) + [4] + Array("Shop".utf8) + [4] + Array("test".utf8) + [0] + [0, 1, 0, 1]
    + [0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 60, 0, 7, 4] + Array("edge".utf8) + [0xc0, 16]  // at 43
    + [0xc0, 43, 0, 1, 0, 1, 0, 0, 0, 30, 0, 4, 192, 0, 2, 1]
    + [0xc0, 43, 0, 28, 0, 1, 0x80, 0, 0, 1, 0, 16, 0x20, 1, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11)
    + [1]
    + [0xc0, 16, 0, 6, 0, 1, 0, 0, 1, 0, 0, 27, 2] + Array("ns".utf8) + [0xc0, 16, 0xc0, 12]
    + [0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 77]
    + [0, 0, 41, 4, 0xd0, 0, 0, 0, 0, 0, 6, 0, 15, 0, 2, 0, 4]

  /// A head with these counts and no flags but QR.
  private static func head(
    _ questions: UInt16, _ answers: UInt16 = 0, _ others: UInt16 = 0, _ more: UInt16 = 0
  ) -> [UInt8] {
    [0, 0, 0x80, 0] + [questions, answers, others, more].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
  }

  @Test func `a response with compressed names is read in full`() throws {
    let message = try DNSMessage(decoding: Self.good)
    #expect(message.id == 0xbeef && message.isResponse && message.recursionAvailable)
    #expect(message.questions.map(\.description) == ["www.shop.test. A"])
    #expect(
      message.answers.map(\.owner.description) == ["www.shop.test.", "edge.shop.test.", "edge.shop.test."])
    #expect(message.answers[0].data == .name(try #require(DNSName("edge.shop.test"))))
    #expect(message.answers[1].data == .address(.ipv4(0xC000_0201)))
    #expect(message.answers[2].ttl == 0x8000_0001 && message.answers[2].lifetime == 604_800)
    #expect(message.authorities.map(\.data.description) == ["ns.shop.test. www.shop.test. 9 1 2 3 77"])
    #expect(message.edns?.extendedErrors.map(\.code) == [4] && message.edns?.payloadSize == 1232)
    #expect(message.additionals == [])
  }

  @Test func `a pointer to a part of a name is that part, whatever was read before`() throws {
    // Owners: the question's name, its tail, a label before that tail, that name, the pointer in it, and the tail's tail.
    let owners: [[UInt8]] = [
      [0xc0, 12], [0xc0, 16], [1, 0x61, 0xc0, 16], [0xc0, 63], [0xc0, 65], [0xc0, 21], [0],
    ]
    let records = owners.map { $0 + [0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1] }
    let question = [3] + Array("www".utf8) + [4] + Array("Shop".utf8) + [4] + Array("test".utf8) + [0, 0, 1, 0, 1]
    let message = try DNSMessage(decoding: Self.head(1, UInt16(owners.count)) + question + records.joined())
    #expect(
      message.answers.map(\.owner.description)
        == ["www.shop.test.", "shop.test.", "a.shop.test.", "a.shop.test.", "shop.test.", "test.", "."])
  }

  @Test func `every prefix of a good message is refused`() {
    for count in 0..<Self.good.count {
      #expect(throws: DNSMessageError.self, "the first \(count) bytes") {
        try DNSMessage(decoding: Array(Self.good.prefix(count)))
      }
    }
  }

  @Test func `bytes behind the last record are refused`() {
    let error = #expect(throws: DNSMessageError.self) { try DNSMessage(decoding: Self.good + [0]) }
    #expect(error?.description == "bytes behind the last record at byte \(Self.good.count)")
  }

  @Test(
    arguments: [
      [0xc0, 12], [0xc0, 13], [0xc0, 14], [0xff, 0xff], [1, 0x61, 0xc0, 12], [1, 0x61, 0xc0, 14], [0xc0],
    ] as [[UInt8]])
  func `a pointer that does not point back is refused`(_ name: [UInt8]) {
    #expect(throws: DNSMessageError.self) { try DNSMessage(decoding: Self.head(1) + name + [0, 1, 0, 1]) }
  }

  @Test func `two names that point to each other are refused`() {
    let first: [UInt8] = [1, 0x61, 0xc0, 20, 0, 1, 0, 1]  // at 12, to 20
    let second: [UInt8] = [1, 0x62, 0xc0, 12, 0, 1, 0, 1]  // at 20, to 12
    #expect(throws: DNSMessageError.self) { try DNSMessage(decoding: Self.head(2) + first + second) }
  }

  @Test(arguments: [0x40, 0x80, 0x7f, 0xbf] as [UInt8])
  func `a label of an unknown type is refused`(_ length: UInt8) {
    let name = [length] + [UInt8](repeating: 0x61, count: 200)
    #expect(throws: DNSMessageError.self) { try DNSMessage(decoding: Self.head(1) + name + [0, 0, 1, 0, 1]) }
  }

  /// A question whose name ends behind so many pointers, each to the one before.
  private static func chain(of pointers: Int) -> [UInt8] {
    var bytes = head(1, 1)
    // The names stand in a record of unknown type, whose data is not looked at.
    bytes += [0, 0, 1, 0, 1]  // the root's question
    bytes +=
      [0, 0xff, 0, 0, 1, 0, 0, 0, 0] + [UInt8((2 * pointers + 2) >> 8), UInt8((2 * pointers + 2) & 0xff)]
    var last = bytes.count
    bytes += [0, 0]
    for _ in 0..<pointers {
      let next = bytes.count
      bytes += [0xc0 | UInt8(last >> 8), UInt8(last & 0xff)]
      last = next
    }
    bytes[7] = 2
    bytes += [0xc0 | UInt8(last >> 8), UInt8(last & 0xff), 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 192, 0, 2, 1]
    return bytes
  }

  @Test func `a name may be compressed as often as it can have labels`() throws {
    #expect(try DNSMessage(decoding: Self.chain(of: 100)).answers.last?.owner == .root)
  }

  @Test(arguments: [128, 1000, 8000])
  func `a longer chain of pointers is refused, so that no name costs more than its 255 bytes`(_ count: Int) {
    let error = #expect(throws: DNSMessageError.self) { try DNSMessage(decoding: Self.chain(of: count)) }
    #expect(error?.description.contains("pointers") == true)
  }

  @Test func `a name of more than 255 bytes is refused, pointers or not`() {
    let label: [UInt8] = [63] + [UInt8](repeating: 0x61, count: 63)
    let plain = label + label + label + label + [0]
    #expect(throws: DNSMessageError.self) { try DNSMessage(decoding: Self.head(1) + plain + [0, 1, 0, 1]) }
    let first = label + label + [0, 0, 1, 0, 1]
    let second = label + label + [0xc0, 12, 0, 1, 0, 1]
    #expect(throws: DNSMessageError.self) { try DNSMessage(decoding: Self.head(2) + first + second) }
  }

  @Test(arguments: [5, 7, 9, 11])
  func `a count that promises more than there is is refused`(_ index: Int) {
    for count in [1, 255] as [UInt8] {
      var bytes = Self.good
      bytes[index] += count > 1 ? 200 : 1
      #expect(throws: DNSMessageError.self) { try DNSMessage(decoding: bytes) }
      bytes[index - 1] = 0xff
      #expect(throws: DNSMessageError.self) { try DNSMessage(decoding: bytes) }
    }
  }

  @Test(arguments: [5, 7, 9, 11])
  func `a count that hides a record is refused`(_ index: Int) {
    var bytes = Self.good
    bytes[index] -= 1
    #expect(throws: DNSMessageError.self) { try DNSMessage(decoding: bytes) }
  }

  @Test func `one OPT record at most, and it belongs to the root`() throws {
    let opt: [UInt8] = [0, 0, 41, 4, 0xd0, 0, 0, 0, 0, 0, 0]
    #expect(try DNSMessage(decoding: Self.head(0, 0, 0, 1) + opt).edns != nil)
    #expect(throws: DNSMessageError.self) { try DNSMessage(decoding: Self.head(0, 0, 0, 2) + opt + opt) }
    let named = [1, 0x61] + opt
    #expect(throws: DNSMessageError.self) { try DNSMessage(decoding: Self.head(0, 0, 0, 1) + named) }
  }

  @Test(arguments: [[0], [0, 8, 0], [0, 8, 0, 1], [0, 8, 0xff, 0xff, 1]] as [[UInt8]])
  func `an EDNS option that runs past its record is refused`(_ data: [UInt8]) {
    let opt: [UInt8] = [0, 0, 41, 4, 0xd0, 0, 0, 0, 0, 0, UInt8(data.count)]
    #expect(throws: DNSMessageError.self) { try DNSMessage(decoding: Self.head(0, 0, 0, 1) + opt + data) }
  }

  /// One answer of that type with that data.
  private func answer(_ type: UInt8, _ data: [UInt8]) throws -> DNSRecord.Data? {
    let record: [UInt8] = [0, 0, type, 0, 1, 0, 0, 0, 9, 0, UInt8(data.count)]
    return try DNSMessage(decoding: Self.head(0, 1) + record + data).answers.first?.data
  }

  @Test(
    arguments: [
      (1, [192, 0, 2]), (1, [192, 0, 2, 1, 0]), (1, []), (28, [192, 0, 2, 1]),
      (28, [UInt8](repeating: 0, count: 17)),
      (5, []), (5, [0, 0]), (5, [1, 0x61, 0, 9]), (6, [0, 0]),
      (6, [0, 0] + [UInt8](repeating: 0, count: 19)),
      (6, [0, 0] + [UInt8](repeating: 0, count: 21)), (65, [0]), (65, [0, 1]), (65, [0, 1, 0, 0]),
      (65, [0, 1, 0, 0, 1, 0, 3, 2, 0x68]), (65, [0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0]),
      (65, [0, 1, 0, 0, 3, 0, 0, 0, 1, 0, 0]), (64, [0, 1, 0, 0, 3, 0xff, 0xff, 1]),
    ] as [(UInt8, [UInt8])])
  func `data of the wrong shape is refused`(_ type: UInt8, _ data: [UInt8]) {
    #expect(throws: DNSMessageError.self) { try answer(type, data) }
  }

  @Test func `data of the wrong shape refuses no reply to a question, and is kept as it came`() throws {
    let record: [UInt8] = [0, 0, 1, 0, 1, 0, 0, 0, 9, 0, 3, 192, 0, 2]
    let cut: [UInt8] = [0, 0, 5, 0, 1, 0, 0, 0, 9, 0, 1, 9]
    let question: [UInt8] = [0, 0, 1, 0, 1]
    let message = try DNSMessage(
      decoding: Self.head(1, 1, 2, 1) + question + record + record + cut + record)
    #expect(message.answers.map(\.data) == [.opaque([192, 0, 2])])
    #expect(message.authorities.map(\.data) == [.opaque([192, 0, 2]), .opaque([9])])
    #expect(message.additionals.map(\.data) == [.opaque([192, 0, 2])])
  }

  @Test func `an HTTPS record is kept with its parameters`() throws {
    let data: [UInt8] =
      [0, 1, 3] + Array("svc".utf8) + [0] + [0, 1, 0, 6, 2, 0x68, 0x33, 2, 0x68, 0x32] + [
        0, 3, 0, 2, 0x20, 0xfb,
      ]
      + [0, 4, 0, 4, 192, 0, 2, 9]
    guard case .binding(let binding) = try answer(65, data) else {
      Issue.record("no service binding")
      return
    }
    #expect(binding.priority == 1 && binding.target == DNSName("svc"))
    #expect(binding.alpn == ["h3", "h2"] && binding.port == 8443 && binding.hints == [.ipv4(0xC000_0209)])
  }

  @Test func `data of other types is kept as it came`() throws {
    #expect(try answer(98, [3, 1, 2, 3]) == .opaque([3, 1, 2, 3]))
    #expect(try answer(99, []) == .opaque([]))
  }

  @Test(
    arguments: [
      (1, [192, 0, 2, 1]), (1, [192, 0, 2]), (28, [UInt8](repeating: 0, count: 16)), (5, [1, 0x61, 0]), (5, [0xc0, 0]),
      (6, [0, 0]), (65, [0, 1]),
    ] as [(UInt8, [UInt8])], [0, 3, 48, 255, 0x8001] as [UInt16])
  func `data of another class than IN is kept as it came, whatever the type`(
    _ record: (type: UInt8, data: [UInt8]), _ recordClass: UInt16
  ) throws {
    let head = [0, 0, record.type, UInt8(recordClass >> 8), UInt8(recordClass & 0xff), 0, 0, 0, 9, 0]
    let message = try DNSMessage(
      decoding: Self.head(0, 1) + head + [UInt8(record.data.count)] + record.data)
    #expect(message.answers.first?.data == .opaque(record.data) && message.answers.first?.recordClass == recordClass)
    #expect(try DNSMessage(decoding: message.encoded()) == message)
  }

  @Test(arguments: [0, 1, 3, 512, 0xffff] as [UInt16])
  func `the class of an OPT record is a size`(_ size: UInt16) throws {
    let opt: [UInt8] = [0, 0, 41, UInt8(size >> 8), UInt8(size & 0xff), 0, 0, 0, 0, 0, 5, 0, 15, 0, 1, 7]
    let message = try DNSMessage(decoding: Self.head(0, 0, 0, 1) + opt)
    #expect(message.edns == DNSMessage.EDNS(payloadSize: size, options: [.init(code: 15, data: [7])]))
  }

  @Test func `names are folded to lower case, and other bytes of a label are kept`() throws {
    let question: [UInt8] = [4, 0x41, 0x2e, 0x00, 0xff, 0, 0, 1, 0, 3]
    let name = try DNSMessage(decoding: Self.head(1) + question).questions[0]
    #expect(name.name.labels == [[0x61, 0x2e, 0, 0xff]] && name.recordClass == 3)
  }

  @Test(arguments: 0..<12 as Range<UInt64>)
  func `no bytes can crash the decoder, and what it takes it can write again`(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var taken = 0
    for _ in 0..<800 {
      var bytes = Bool.random(using: &random) ? Self.good : DNSMessage.random(using: &random).encoded()
      bytes.mutate(using: &random)
      guard let message = try? DNSMessage(decoding: bytes) else { continue }
      taken += 1
      // Compression may hide more than 64 KiB of names; a mutated message of some hundred bytes cannot.
      #expect((try? DNSMessage(decoding: message.encoded()))?.questions == message.questions)
    }
    #expect(taken > 20, "the mutations must not all be refused at the door")
  }
}
