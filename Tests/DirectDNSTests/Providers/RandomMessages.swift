// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

extension DNSMessage {
  /// Any message that the wire can carry, within some hundred bytes.
  static func random(using random: inout SeededGenerator) -> DNSMessage {
    var message = DNSMessage(
      id: .random(in: 0 ... .max, using: &random), isResponse: .random(using: &random),
      opcode: .random(in: 0...15, using: &random), isAuthoritative: .random(using: &random),
      isTruncated: .random(using: &random), recursionDesired: .random(using: &random),
      recursionAvailable: .random(using: &random),
      responseCode: .init(rawValue: .random(in: 0...15, using: &random)),
      questions: (0..<Int.random(in: 0...2, using: &random)).map { _ in
        DNSQuestion(
          name: .random(using: &random), type: .init(rawValue: .random(in: 0 ... .max, using: &random)),
          recordClass: .random(in: 0 ... .max, using: &random))
      })
    message.answers = DNSRecord.some(using: &random)
    message.authorities = DNSRecord.some(using: &random)
    message.additionals = DNSRecord.some(using: &random)
    if Bool.random(using: &random) {
      message.edns = EDNS(
        payloadSize: .random(in: 0 ... .max, using: &random),
        options: (0..<Int.random(in: 0...3, using: &random)).map { _ in
          .init(code: .random(in: 0 ... .max, using: &random), data: .random(upTo: 9, using: &random))
        })
      message.responseCode = .init(rawValue: .random(in: 0...4095, using: &random))
    }
    return message
  }
}

extension DNSRecord {
  fileprivate static func some(using random: inout SeededGenerator) -> [DNSRecord] {
    (0..<Int.random(in: 0...3, using: &random)).map { _ in one(using: &random) }
  }

  private static func one(using random: inout SeededGenerator) -> DNSRecord {
    let type: DNSRecordType
    var data: Data
    switch Int.random(in: 0..<10, using: &random) {
    case 0: (type, data) = (.a, .address(.ipv4(.random(in: 0 ... .max, using: &random))))
    case 1:
      let high = UInt64.random(in: 0 ... .max, using: &random)
      (type, data) = (.aaaa, .address(.ipv6(high: high, low: .random(in: 0 ... .max, using: &random))))
    case 2:
      let types: [DNSRecordType] = [.cname, .dname, .ns, .ptr]
      (type, data) = (types.randomElement(using: &random) ?? .cname, .name(.random(using: &random)))
    case 3:
      let numbers = (0..<5).map { _ in UInt32.random(in: 0 ... .max, using: &random) }
      (type, data) = (
        .soa,
        .startOfAuthority(
          RecordData.Authority(
            primary: .random(using: &random), mailbox: .random(using: &random), serial: numbers[0],
            refresh: numbers[1], retry: numbers[2], expire: numbers[3], minimum: numbers[4]))
      )
    case 4:
      var binding = ServiceBinding(
        priority: .random(in: 0 ... .max, using: &random), target: .random(using: &random))
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        // The values of these keys may be any.
        binding.parameters[.random(in: 7...99, using: &random)] = .random(upTo: 12, using: &random)
      }
      (type, data) = (.https, .binding(binding))
    case 5:
      let preference = UInt16.random(in: 0 ... .max, using: &random)
      (type, data) = (.mx, .mailExchange(preference: preference, exchange: .random(using: &random)))
    case 6:
      let strings = (0...Int.random(in: 0...2, using: &random)).map { _ in [UInt8].random(upTo: 20, using: &random) }
      (type, data) = (.txt, .text(strings))
    case 7:
      let numbers = (0..<3).map { _ in UInt16.random(in: 0 ... .max, using: &random) }
      (type, data) = (
        .srv,
        .service(priority: numbers[0], weight: numbers[1], port: numbers[2], target: .random(using: &random))
      )
    case 8:
      (type, data) = (
        .caa,
        .certificationAuthority(
          flags: .random(in: 0 ... .max, using: &random), tag: "issue", value: .random(upTo: 20, using: &random))
      )
    default: (type, data) = (DNSRecordType(rawValue: 65280), .opaque(.random(upTo: 20, using: &random)))
    }
    // In any other class a type's data means nothing.
    let recordClass = Bool.random(using: &random) ? 1 : UInt16.random(in: 0 ... .max, using: &random)
    if recordClass != 1 { data = .opaque(.random(upTo: 20, using: &random)) }
    return DNSRecord(
      owner: .random(using: &random), type: type, recordClass: recordClass,
      ttl: .random(in: 0 ... .max, using: &random), data: data)
  }
}

extension DNSName {
  fileprivate static func random(using random: inout SeededGenerator) -> DNSName {
    var wire: [UInt8] = []
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      var label: [UInt8] = .random(upTo: 12, using: &random).map(ASCII.lowercased)
      if label.isEmpty { label = [0x78] }
      wire += [UInt8(label.count)] + label
    }
    return DNSName(wire: wire + [0])
  }
}

extension [UInt8] {
  static func random(upTo count: Int, using random: inout SeededGenerator) -> [UInt8] {
    (0..<Int.random(in: 0...count, using: &random)).map { _ in .random(in: 0 ... .max, using: &random) }
  }

  /// Changes some bytes: flips, replaces, removes, doubles, cuts.
  mutating func mutate(using random: inout SeededGenerator) {
    for _ in 0..<Int.random(in: 1...4, using: &random) where !isEmpty {
      let index = Int.random(in: indices, using: &random)
      switch Int.random(in: 0..<7, using: &random) {
      case 0: self[index] ^= 1 << UInt8.random(in: 0...7, using: &random)
      case 1: self[index] = .random(in: 0 ... .max, using: &random)
      case 2: self[index] = [0, 0xff, 0xc0, 0x3f, 0x80].randomElement(using: &random) ?? 0
      case 3: remove(at: index)
      case 4: insert(self[index], at: index)
      case 5: self = Array(prefix(index))
      default: self += suffix(from: index).prefix(16)
      }
    }
  }
}
