// SPDX-License-Identifier: Apache-2.0
extension DNSMessage {
  /// The message's bytes, with no name compressed.
  public func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(64)
    var flags = UInt16(opcode & 0xf) << 11 | responseCode.rawValue & 0xf
    if isResponse { flags |= 0x8000 }
    if isAuthoritative { flags |= 0x0400 }
    if isTruncated { flags |= 0x0200 }
    if recursionDesired { flags |= 0x0100 }
    if recursionAvailable { flags |= 0x0080 }
    let extra = edns == nil ? 0 : 1
    bytes.append(number: id)
    bytes.append(number: flags)
    for count in [questions.count, answers.count, authorities.count, additionals.count + extra] {
      bytes.append(number: UInt16(count))
    }
    for question in questions {
      bytes += question.name.wire
      bytes.append(number: question.type.rawValue)
      bytes.append(number: question.recordClass)
    }
    for section in [answers, authorities, additionals] { for record in section { bytes.append(record) } }
    if let edns {
      bytes.append(0)
      bytes.append(number: DNSRecordType.opt.rawValue)
      bytes.append(number: edns.payloadSize)
      bytes.append(number: UInt32(responseCode.rawValue >> 4) << 24)
      bytes.append(number: UInt16(edns.options.reduce(0) { $0 + 4 + $1.data.count }))
      for option in edns.options {
        bytes.append(number: option.code)
        bytes.append(number: UInt16(option.data.count))
        bytes += option.data
      }
    }
    return bytes
  }
}

extension DNSMessage {
  /// The bytes of a query that asks one question and wants recursion, with the id 0: what `encoded()` makes of it.
  static func query(_ question: AddressQuestion) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(question.host.text.utf8.count + 18)
    bytes += queryHeader
    DNSName.append(question.host, to: &bytes)
    bytes.append(number: question.type.rawValue)
    bytes.append(number: DNSQuestion.internetClass)
    return bytes
  }

  private static let queryHeader: [UInt8] = [0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]
}

extension [UInt8] {
  /// Appends a number, its highest byte first.
  fileprivate mutating func append(number: some FixedWidthInteger & UnsignedInteger) {
    for shift in stride(from: number.bitWidth - 8, through: 0, by: -8) {
      append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }

  fileprivate mutating func append(_ record: DNSRecord) {
    self += record.owner.wire
    append(number: record.type.rawValue)
    append(number: record.recordClass)
    append(number: record.ttl)
    let data: [UInt8]
    switch record.data {
    case .address(let address): data = address.bytes
    case .canonicalName(let name): data = name.wire
    case .startOfAuthority(let primary, let serial, let minimum):
      // The mailbox is the primary's name, and the timers that this library never reads are usual ones.
      var soa = primary.wire + primary.wire
      for value in [serial, 7200, 900, 1_209_600, minimum] { soa.append(number: value) }
      data = soa
    case .service(let binding):
      var service: [UInt8] = []
      service.append(number: binding.priority)
      service += binding.target.wire
      for (key, value) in binding.parameters.sorted(by: { $0.key < $1.key }) {
        service.append(number: key)
        service.append(number: UInt16(value.count))
        service += value
      }
      data = service
    case .opaque(let bytes): data = bytes
    }
    append(number: UInt16(data.count))
    self += data
  }
}
