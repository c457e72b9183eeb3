// SPDX-License-Identifier: Apache-2.0
extension DNSMessage {
  /// The message's bytes, with no name compressed.
  ///
  /// A message has at most 65 535 bytes. From the first question or record that does not fit, the rest is left out, and
  /// the message is marked as truncated (RFC 1035 §4.1.1, TC); likewise for the options of EDNS. Data that is known only as
  /// text (``RecordData/presentation(_:)``) has no bytes, and fits into no message.
  public func encoded() -> [UInt8] {
    var edns: [UInt8] = []
    var left = Self.largest - 12
    var hasAllOptions = true
    if let known = self.edns {
      hasAllOptions = edns.append(known, extendedCode: responseCode.rawValue >> 4)
      left -= edns.count
    }
    var isWhole = true
    var bytes = [UInt8](repeating: 0, count: 12)
    bytes.reserveCapacity(64)
    var counts: [Int] = []
    counts.append(bytes.append(questions, upTo: &left, isWhole: &isWhole) { $0.append($1) })
    for section in [answers, authorities, additionals] {
      counts.append(bytes.append(section, upTo: &left, isWhole: &isWhole) { $0.append($1) })
    }
    if !edns.isEmpty { counts[3] += 1 }
    bytes += edns
    let head = [id, flags(isTruncated: isTruncated || !isWhole || !hasAllOptions)] + counts.map { UInt16($0) }
    var front: [UInt8] = []
    for number in head { front.append(number: number) }
    bytes.replaceSubrange(0..<12, with: front)
    return bytes
  }

  private static let largest = 65_535

  private func flags(isTruncated: Bool) -> UInt16 {
    var flags = UInt16(opcode & 0xf) << 11 | responseCode.rawValue & 0xf
    if isResponse { flags |= 0x8000 }
    if isAuthoritative { flags |= 0x0400 }
    if isTruncated { flags |= 0x0200 }
    if recursionDesired { flags |= 0x0100 }
    if recursionAvailable { flags |= 0x0080 }
    return flags
  }
}

extension DNSMessage {
  /// The bytes of a query for one question, with the id 0 and recursion desired; the same as `encoded()` gives.
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

  /// Appends parts as long as they fit.
  ///
  /// - Returns: how many were appended.
  fileprivate mutating func append<Part>(
    _ parts: [Part], upTo left: inout Int, isWhole: inout Bool, by append: (inout [UInt8], Part) -> Bool
  ) -> Int {
    guard isWhole else { return 0 }
    for (number, part) in parts.enumerated() {
      let start = count
      isWhole = append(&self, part) && count - start <= left
      guard isWhole else {
        removeLast(count - start)
        return number
      }
      left -= count - start
    }
    return parts.count
  }

  fileprivate mutating func append(_ question: DNSQuestion) -> Bool {
    self += question.name.wire
    append(number: question.type.rawValue)
    append(number: question.recordClass)
    return true
  }

  /// Appends the OPT record of EDNS (RFC 6891 §6.1.2), with the options that fit.
  ///
  /// - Returns: whether all fit.
  fileprivate mutating func append(_ edns: DNSMessage.EDNS, extendedCode: UInt16) -> Bool {
    var options: [UInt8] = []
    // The record's fixed part has eleven bytes, and the message's header has twelve.
    var left = Int(UInt16.max) - 23
    var isWhole = true
    _ = options.append(edns.options, upTo: &left, isWhole: &isWhole) { bytes, option in
      bytes.append(number: option.code)
      return bytes.append(counted: option.data)
    }
    append(0)
    append(number: DNSRecordType.opt.rawValue)
    append(number: edns.payloadSize)
    append(number: UInt32(extendedCode) << 24)
    return append(counted: options) && isWhole
  }

  /// Appends a record.
  ///
  /// - Returns: false for data that fits into no message; then what was appended is not a whole record.
  fileprivate mutating func append(_ record: DNSRecord) -> Bool {
    self += record.owner.wire
    append(number: record.type.rawValue)
    append(number: record.recordClass)
    append(number: record.ttl)
    guard let data = record.data.wire else { return false }
    return append(counted: data)
  }

  /// Appends the number of bytes, then the bytes; false if there are more than 65 535.
  fileprivate mutating func append(counted bytes: [UInt8]) -> Bool {
    guard let count = UInt16(exactly: bytes.count) else { return false }
    append(number: count)
    self += bytes
    return true
  }
}

extension RecordData {
  /// The data's bytes, with no name compressed; nil for what fits into no message, and for a text that is not known as
  /// anything else.
  fileprivate var wire: [UInt8]? {
    var bytes: [UInt8] = []
    switch self {
    case .address(let address): return address.bytes
    case .name(let name): return name.wire
    case .mailExchange(let preference, let exchange):
      bytes.append(number: preference)
      return bytes + exchange.wire
    case .text(let strings):
      for string in strings {
        guard bytes.append(string: string) else { return nil }
      }
    case .service(let priority, let weight, let port, let target):
      for number in [priority, weight, port] { bytes.append(number: number) }
      return bytes + target.wire
    case .startOfAuthority(let zone):
      bytes = zone.primary.wire + zone.mailbox.wire
      for number in [zone.serial, zone.refresh, zone.retry, zone.expire, zone.minimum] { bytes.append(number: number) }
    case .binding(let binding):
      bytes.append(number: binding.priority)
      bytes += binding.target.wire
      for (key, value) in binding.parameters.sorted(by: { $0.key < $1.key }) {
        bytes.append(number: key)
        guard bytes.append(counted: value) else { return nil }
      }
    case .certificationAuthority(let flags, let tag, let value):
      bytes.append(flags)
      guard bytes.append(string: Array(tag.utf8)) else { return nil }
      return bytes + value
    case .opaque(let data): return data
    case .presentation: return nil
    }
    return bytes
  }
}

extension [UInt8] {
  /// Appends a string behind its length; false if it has more than 255 bytes (RFC 1035 §3.3).
  fileprivate mutating func append(string: [UInt8]) -> Bool {
    guard let count = UInt8(exactly: string.count) else { return false }
    append(count)
    self += string
    return true
  }
}
