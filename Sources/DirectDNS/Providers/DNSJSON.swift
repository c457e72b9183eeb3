// SPDX-License-Identifier: Apache-2.0
/// The reply format that the JSON APIs share; it has no RFC, and each API has variants of its own.
package enum DNSJSON {
  /// Reads the answer to a question out of a reply's body.
  package static func answer(
    from body: [UInt8], to question: AddressQuestion, freshness: HTTPFreshness = HTTPFreshness()
  ) throws(ProviderFailure) -> Answer {
    guard let reply = JSONReply(body) else { throw .malformed("not a JSON object") }
    if let answer = reply.addresses(of: question, freshness) { return answer }
    // A missing status does not count as NOERROR: an error page in JSON has none either.
    guard let status = reply.status.flatMap({ UInt16(exactly: $0) }), status < 4096 else {
      throw .malformed("no DNS status in the JSON")
    }
    guard !reply.isTruncated else { throw .malformed("a truncated reply") }
    let question = question.message
    var names = Names(first: question.name)
    try reply.check(against: question, &names)
    let code = DNSMessage.ResponseCode(rawValue: status)
    guard code == .noError || code == .nameError else {
      throw ProviderFailure(.response, "answered \(code)" + reply.comment)
    }
    return try AnswerSection.answer(
      to: question, responseCode: code, answers: try reply.answers(&names), authorities: try reply.authorities(&names),
      freshness: freshness)
  }
}

/// A reply's names: nearly all are the question's, or the one that was read last.
private struct Names {
  let first: DNSName
  var last: DNSName?

  init(first: DNSName) { self.first = first }

  /// The name of a text; a known name is not built again.
  func name(_ text: Span<UInt8>) -> DNSName? {
    if first.isSpelled(by: text) { return first }
    if let last, last.isSpelled(by: text) { return last }
    return DNSName(presentation: text)
  }
}

/// Reads a reply record by record.
extension JSONReply {
  fileprivate func check(against expected: DNSQuestion, _ names: inout Names) throws(ProviderFailure) {
    guard let row = onlyQuestion else { throw .malformed("a reply that does not repeat the question") }
    guard let name = name(row.name, &names), name == expected.name, type(row.type) == expected.type
    else { throw .malformed("a reply to another question") }
  }

  /// A number at most APIs, a string or a mnemonic at some.
  private func type(_ value: JSONToken?) -> DNSRecordType? {
    guard let value else { return nil }
    if let number = value.integer(in: bytes) { return UInt16(exactly: number).map(DNSRecordType.init(rawValue:)) }
    return value.string(in: bytes).flatMap(DNSRecordType.init)
  }

  // MARK: Records

  fileprivate func answers(_ names: inout Names) throws(ProviderFailure) -> [DNSRecord] { try records(answer, &names) }
  fileprivate func authorities(_ names: inout Names) throws(ProviderFailure) -> [DNSRecord] {
    try records(authority, &names)
  }

  private func records(_ section: Section?, _ names: inout Names) throws(ProviderFailure) -> [DNSRecord] {
    guard let section else { return [] }
    guard case .list(let places) = section else { throw .malformed("a section that is not a list") }
    var records: [DNSRecord] = []
    records.reserveCapacity(places.count)
    for place in places {
      let row = rows[place]
      let owner = name(row.name, &names)
      guard owner != nil || row.name?.isString == true, let type = type(row.type) else {
        throw .malformed("a record without a name or a type")
      }
      guard let data = data(row.data, type, &names) else { continue }
      guard let ttl = row.ttl.flatMap({ $0.integer(in: bytes) }) ?? (type == .ns ? 0 : nil) else {
        throw .malformed("a record without a TTL")
      }
      var record = DNSRecord(owner: owner ?? .root, type: type, ttl: UInt32(clamping: max(0, ttl)), data: data)
      // What is no name belongs to no chain, and no more does a record of the reserved class (RFC 6895 §3.2).
      if owner == nil { record.recordClass = 0 }
      records.append(record)
    }
    return records
  }

  /// The data of the types that this library reads; nil for any other.
  ///
  /// Malformed data is opaque, since most records of a reply may not belong to the answer, as in a message.
  private func data(_ value: JSONToken?, _ type: DNSRecordType, _ names: inout Names) -> DNSRecord.Data? {
    switch type {
    case .a, .aaaa:
      let address = value.flatMap { $0.spelled(in: bytes) { IPAddress(ascii: $0) } }
      guard let address, DNSRecordType(address.family) == type else { return .opaque([]) }
      return .address(address)
    case .cname: return name(value, &names).map(DNSRecord.Data.canonicalName) ?? .opaque([])
    // Only its type is used: it marks a referral.
    case .ns: return .opaque([])
    case .soa: return value.flatMap { $0.spelled(in: bytes, as: startOfAuthority) }
    default: return nil
    }
  }

  /// The data of an SOA: mname rname serial refresh retry expire minimum.
  private func startOfAuthority(_ text: Span<UInt8>) -> DNSRecord.Data? {
    var (count, index) = (0, 0)
    var primary: DNSName?
    var serial, minimum: UInt32?
    while index < text.count {
      let start = index
      while index < text.count, text[index] != ASCII.space { index += 1 }
      defer { index += 1 }
      guard index > start else { continue }
      count += 1
      let part = text.extracting(start..<index)
      switch count {
      case 1: primary = DNSName(presentation: part)
      case 3: serial = Int64(ascii: part).flatMap { UInt32(exactly: $0) }
      case 7: minimum = Int64(ascii: part).flatMap { UInt32(exactly: $0) }
      default: break
      }
    }
    guard count == 7, let primary, let serial, let minimum else { return nil }
    return .startOfAuthority(primary: primary, serial: serial, minimum: minimum)
  }

  private func name(_ value: JSONToken?, _ names: inout Names) -> DNSName? {
    guard let name = value.flatMap({ $0.spelled(in: bytes, as: names.name) }) else { return nil }
    names.last = name
    return name
  }
}
