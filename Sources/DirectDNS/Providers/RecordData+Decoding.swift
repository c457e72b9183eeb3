// SPDX-License-Identifier: Apache-2.0
extension DNSMessageReader {
  /// Reads the data of a record of class IN, and moves past it.
  ///
  /// It cannot fail: malformed data is kept as it came.
  ///
  /// - Parameters:
  ///   - type: the record's type.
  ///   - end: where the data ends, within the message.
  /// - Returns: the data.
  mutating func recordData(of type: DNSRecordType, until end: Int) -> RecordData {
    let start = offset
    defer { offset = end }
    if let data = try? known(type, until: end), offset == end { return data }
    return .opaque(Array(bytes[start..<end]))
  }

  /// The data of a type that is known here; nil, or an error, for any other and for malformed data.
  private mutating func known(_ type: DNSRecordType, until end: Int) throws(DNSMessageError) -> RecordData? {
    switch type {
    case .a, .aaaa:
      guard let address = IPAddress(bytes: rest(until: end)), DNSRecordType(address.family) == type else { return nil }
      return .address(address)
    // Names of RFC 1035 may be compressed; those of later types may not, but are read the same way (RFC 3597 §4).
    case .cname, .dname, .ns, .ptr: return .name(try name())
    case .mx: return .mailExchange(preference: try uint16(), exchange: try name())
    case .txt: return text(until: end)
    case .srv:
      return .service(priority: try uint16(), weight: try uint16(), port: try uint16(), target: try name())
    case .soa:
      return .startOfAuthority(
        RecordData.Authority(
          primary: try name(), mailbox: try name(), serial: try uint32(), refresh: try uint32(), retry: try uint32(),
          expire: try uint32(), minimum: try uint32()))
    case .svcb, .https:
      let binding = try serviceBinding(until: end)
      return binding.isWellFormed ? .binding(binding) : nil
    case .caa: return certificationAuthority(until: end)
    default: return nil
    }
  }

  private mutating func rest(until end: Int) -> ArraySlice<UInt8> {
    defer { offset = end }
    return bytes[min(offset, end)..<end]
  }

  /// Strings, each after its length; at least one (RFC 1035 §3.3.14).
  private mutating func text(until end: Int) -> RecordData? {
    var strings: [[UInt8]] = []
    while offset < end {
      let next = offset + 1 + Int(bytes[offset])
      guard next <= end else { return nil }
      strings.append(Array(bytes[offset + 1..<next]))
      offset = next
    }
    return strings.isEmpty ? nil : .text(strings)
  }

  /// Flags, the tag after its length, and the value (RFC 8659 §4.1).
  private mutating func certificationAuthority(until end: Int) -> RecordData? {
    let data = Array(rest(until: end))
    guard data.count >= 2, data.count >= 2 + Int(data[1]) else { return nil }
    let tag = data[2..<2 + Int(data[1])]
    guard RecordData.isTag(tag) else { return nil }
    return .certificationAuthority(
      flags: data[0], tag: String(decoding: tag, as: UTF8.self), value: Array(data.dropFirst(2 + tag.count)))
  }
}

extension RecordData {
  /// Reads data without a message around it, so compression pointers cannot lead out of the data.
  init(_ bytes: [UInt8], type: DNSRecordType) {
    var reader = DNSMessageReader(bytes: bytes)
    self = reader.recordData(of: type, until: bytes.count)
  }

  /// Whether the bytes can be a CAA record's tag: letters and digits.
  static func isTag(_ bytes: some Collection<UInt8>) -> Bool {
    !bytes.isEmpty && bytes.count <= 255 && bytes.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) }
  }
}
