// SPDX-License-Identifier: Apache-2.0
/// A record of a JSON reply, read as far as tells whether it belongs to the answer.
struct JSONRecord: AnswerRecord {
  private let bytes: [UInt8]
  private let row: JSONReply.Row
  /// The name; nil if there is none, or if what stands there is no name.
  private let owner: DNSName?
  /// The type; nil if there is none, or if what stands there is no type.
  private let knownType: DNSRecordType?
  /// The name that a CNAME record leads to; nil if it takes more than a name's rules to read it.
  private let name: DNSName?

  init(_ row: JSONReply.Row, in bytes: [UInt8], _ names: inout JSONNames) {
    self.bytes = bytes
    self.row = row
    owner = names.name(row.name, in: bytes)
    knownType = DNSRecordType(row.type, in: bytes)
    name = knownType == .cname ? names.plainName(row.data, in: bytes) : nil
  }

  /// What is no name belongs to no chain.
  func belongs(to name: DNSName) -> Bool { owner.map { $0 == name } ?? (row.name?.isString != true) }

  /// A mnemonic that is not known here is that of another type.
  func isOf(_ type: DNSRecordType) -> Bool { knownType.map { $0 == type } ?? !isMnemonic }

  private var isMnemonic: Bool { row.type?.isString == true && row.type?.integer(in: bytes) == nil }

  var type: DNSRecordType {
    get throws(ProviderFailure) {
      guard owner != nil, let knownType else { throw .malformed("a record without a name or a type") }
      return knownType
    }
  }

  var lifetime: UInt32 {
    get throws(ProviderFailure) {
      guard let ttl = row.ttl?.integer(in: bytes) else { throw .malformed("a record without a TTL") }
      return min(UInt32(clamping: ttl), DNSRecord.lifetimeLimit)
    }
  }

  var data: RecordData {
    get throws(ProviderFailure) {
      let type = try type
      if let name { return .name(name) }
      if let address = row.data?.spelled(in: bytes, as: { IPAddress(ascii: $0) }), DNSRecordType(address.family) == type
      {
        return .address(address)
      }
      guard let text = row.data?.string(in: bytes) else { throw .malformed("a record of type \(type) without data") }
      return RecordData(text, type: type) ?? .presentation(text)
    }
  }

  /// The record as that of a message, if it is one of those by which a negative answer is judged.
  var authority: DNSRecord? {
    guard let owner, let knownType, [.soa, .ns].contains(knownType) else { return nil }
    guard knownType == .soa, let ttl = try? lifetime, let data = try? data else {
      return DNSRecord(owner: owner, type: knownType, ttl: 0, data: .opaque([]))
    }
    return DNSRecord(owner: owner, type: knownType, ttl: ttl, data: data)
  }
}

/// A reply's names: nearly all are the question's, or the one that was read last.
struct JSONNames {
  private let first: DNSName
  private var last: DNSName?

  init(first: DNSName) { self.first = first }

  /// The name that a string is; a known one is not built again.
  mutating func name(_ value: JSONToken?, in bytes: [UInt8]) -> DNSName? {
    guard let name = value?.spelled(in: bytes, as: known) else { return nil }
    last = name
    return name
  }

  private func known(_ text: Span<UInt8>) -> DNSName? {
    if first.isSpelled(by: text) { return first }
    if let last, last.isSpelled(by: text) { return last }
    return DNSName(presentation: text)
  }

  /// The name that a record's data is, if no character in it has a meaning for data alone; nothing at all is no name.
  fileprivate mutating func plainName(_ value: JSONToken?, in bytes: [UInt8]) -> DNSName? {
    let isPlain = value?.spelled(in: bytes) { text in
      for index in text.indices where text[index] <= ASCII.space || text[index] == PresentationText.quote {
        return false
      }
      return !text.isEmpty
    }
    return isPlain == true ? name(value, in: bytes) : nil
  }
}

extension DNSRecordType {
  /// A number at most APIs, a string or a mnemonic at some.
  init?(_ value: JSONToken?, in bytes: [UInt8]) {
    guard let value else { return nil }
    if let number = value.integer(in: bytes) {
      guard let type = UInt16(exactly: number) else { return nil }
      self.init(rawValue: type)
    } else {
      guard let text = value.string(in: bytes) else { return nil }
      self.init(text)
    }
  }
}
