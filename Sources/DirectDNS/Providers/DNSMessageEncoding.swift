// SPDX-License-Identifier: Apache-2.0
extension DNSMessage {
  /// The message's bytes, with no name compressed.
  ///
  /// A message has at most 65 535 bytes. From the first question or record that does not fit, the rest is left out, and
  /// the message is marked as truncated (RFC 1035 §4.1.1, TC); likewise for the options of EDNS.
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
    switch record.data {
    case .address(let address): return append(counted: address.bytes)
    case .canonicalName(let name): return append(counted: name.wire)
    case .startOfAuthority(let primary, let serial, let minimum):
      // The mailbox and the timers are not kept: the primary's name and usual values take their place.
      var soa = primary.wire + primary.wire
      for value in [serial, 7200, 900, 1_209_600, minimum] { soa.append(number: value) }
      return append(counted: soa)
    case .binding(let binding):
      var service: [UInt8] = []
      service.append(number: binding.priority)
      service += binding.target.wire
      for (key, value) in binding.parameters.sorted(by: { $0.key < $1.key }) {
        service.append(number: key)
        guard service.append(counted: value) else { return false }
      }
      return append(counted: service)
    case .opaque(let bytes): return append(counted: bytes)
    }
  }

  /// Appends the number of bytes, then the bytes; false if there are more than 65 535.
  private mutating func append(counted bytes: [UInt8]) -> Bool {
    guard let count = UInt16(exactly: bytes.count) else { return false }
    append(number: count)
    self += bytes
    return true
  }
}
