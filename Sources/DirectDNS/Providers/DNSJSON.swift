// SPDX-License-Identifier: Apache-2.0
/// The reply format that the JSON APIs share; it has no RFC, and each spells some things its own way.
package enum DNSJSON {
  /// Reads the answer to a question out of a reply's body.
  package static func answer(
    from body: [UInt8], to question: AddressQuestion, freshness: HTTPFreshness = HTTPFreshness()
  ) throws(ProviderFailure) -> Answer {
    guard let reply = Reply(body) else { throw .malformed("not a JSON object") }
    if let answer = reply.addresses(of: question, freshness) { return answer }
    // A missing status is no NOERROR: an error page in JSON has none either.
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

/// A reply, and where the values stand that are read of it; one that is null stands nowhere.
private struct Reply {
  private let bytes: [UInt8]
  private var statusPlace, truncation: JSONPiece?
  private var hasComment = false
  private var question, answer, authority: Section?
  private var rows: [Row] = []

  /// The members of a record, or of the question.
  private struct Row { var name, type, ttl, data: JSONPiece? }

  /// A member that holds rows.
  private enum Section {
    /// Which of them.
    case object(Int)
    case list(Range<Int>)
    case neither
  }

  /// Reads a whole text; nil if it is not JSON, or no object.
  init?(_ bytes: [UInt8]) {
    self.bytes = bytes
    rows.reserveCapacity(4)
    guard JSONReader.read(bytes, { reader in reader.object { name, reader in member(name, &reader) } }) else {
      return nil
    }
  }

  private mutating func member(_ name: JSONPiece, _ reader: inout JSONReader) -> Bool {
    let key = name.key(in: bytes)
    switch key {
    case .status: return reader.value(&statusPlace)
    case .truncation: return reader.value(&truncation)
    case .question, .answer, .authority:
      let first = rows.count
      let isList = reader.isAtArray(), isObject = reader.isAtObject()
      var value: JSONPiece?
      guard
        isList ? reader.array({ reader in row(&reader) }) : isObject ? row(&reader) : reader.value(&value)
      else { return false }
      let section: Section? =
        isList ? .list(first..<rows.count) : isObject ? .object(first) : value.map { _ in .neither }
      switch key {
      case .question: question = section
      case .answer: answer = section
      default: authority = section
      }
      return true
    case .comment:
      hasComment = true
      return reader.value() != nil
    default: return reader.value() != nil
    }
  }

  /// What is no object has no member.
  private mutating func row(_ reader: inout JSONReader) -> Bool {
    var row = Row()
    let isRead =
      reader.isAtObject()
      ? reader.object { name, reader in
        switch name.key(in: bytes) {
        case .name: reader.value(&row.name)
        case .type: reader.value(&row.type)
        case .ttl: reader.value(&row.ttl)
        case .data: reader.value(&row.data)
        default: reader.value() != nil
        }
      } : reader.value() != nil
    rows.append(row)
    return isRead
  }

  var status: Int64? { statusPlace?.integer(in: bytes) }
  var isTruncated: Bool { truncation?.isTrue == true }

  /// `Question` is an object at AliDNS and an array elsewhere.
  private var onlyQuestion: Row? {
    switch question {
    case .object(let row): rows[row]
    case .list(let places): places.count == 1 ? rows[places.lowerBound] : nil
    case .neither, nil: nil
    }
  }

  func check(against expected: DNSQuestion, _ names: inout Names) throws(ProviderFailure) {
    guard let row = onlyQuestion else { throw .malformed("a reply that does not repeat the question") }
    guard let name = name(row.name, &names), name == expected.name, type(row.type) == expected.type
    else { throw .malformed("a reply to another question") }
  }

  /// A number at most, a string or a mnemonic at some.
  private func type(_ value: JSONPiece?) -> DNSRecordType? {
    guard let value else { return nil }
    if let number = value.integer(in: bytes) { return UInt16(exactly: number).map(DNSRecordType.init(rawValue:)) }
    return value.string(in: bytes).flatMap(DNSRecordType.init)
  }

  /// Told when a failure is, and looked for then.
  var comment: String { hasComment ? JSONValue(bytes)?["Comment"]?.comment ?? "" : "" }

  // MARK: Addresses

  /// The answer of the reply that nearly all questions get: it has addresses of the name itself, and nothing else. Nothing is
  /// made of it but that; nil if its records are to be read one by one.
  func addresses(of asked: AddressQuestion, _ freshness: HTTPFreshness) -> Answer? {
    guard status == 0, !isTruncated, authority == nil, case .list(let places)? = answer, !places.isEmpty,
      let row = onlyQuestion, isAsked(row, asked)
    else { return nil }
    var ttl = Int64(DNSRecord.lifetimeLimit)
    var addresses: [IPAddress] = []
    addresses.reserveCapacity(min(places.count, Answer.addressLimit))
    for place in places {
      let row = rows[place]
      guard isAsked(row, asked), let lifetime = row.ttl?.integer(in: bytes),
        let address = row.data?.spelled(in: bytes, as: { IPAddress(ascii: $0) }), address.family == asked.family
      else { return nil }
      ttl = min(ttl, max(0, lifetime))
      if addresses.count < Answer.addressLimit, !addresses.contains(address) { addresses.append(address) }
    }
    return Answer(.addresses(addresses), ttl: freshness.lifetime(UInt32(ttl)))
  }

  private func isAsked(_ row: Row, _ asked: AddressQuestion) -> Bool {
    row.type?.integer(in: bytes) == Int64(asked.type.rawValue)
      && row.name?.spelled(in: bytes) { asked.host.isSpelled(by: $0) } == true
  }

  // MARK: Records

  func answers(_ names: inout Names) throws(ProviderFailure) -> [DNSRecord] { try records(answer, &names) }
  func authorities(_ names: inout Names) throws(ProviderFailure) -> [DNSRecord] { try records(authority, &names) }

  private func records(_ section: Section?, _ names: inout Names) throws(ProviderFailure) -> [DNSRecord] {
    guard let section else { return [] }
    guard case .list(let places) = section else { throw .malformed("a section that is no list") }
    var records: [DNSRecord] = []
    records.reserveCapacity(places.count)
    for place in places {
      let row = rows[place]
      guard let owner = name(row.name, &names), let type = type(row.type) else {
        throw .malformed("a record without a name or a type")
      }
      guard let data = try data(row.data, type, &names) else { continue }
      guard let ttl = row.ttl.flatMap({ $0.integer(in: bytes) }) ?? (type == .ns ? 0 : nil) else {
        throw .malformed("a record without a TTL")
      }
      records.append(DNSRecord(owner: owner, type: type, ttl: UInt32(clamping: max(0, ttl)), data: data))
    }
    return records
  }

  /// The data of the types that this library reads; nil for any other.
  private func data(
    _ value: JSONPiece?, _ type: DNSRecordType, _ names: inout Names
  ) throws(ProviderFailure) -> DNSRecord.Data? {
    switch type {
    case .a, .aaaa:
      let address = value.flatMap { $0.spelled(in: bytes) { IPAddress(ascii: $0) } }
      guard let address, DNSRecordType(address.family) == type else {
        throw .malformed("a record of type \(type) whose data is no such address")
      }
      return .address(address)
    case .cname:
      guard let name = name(value, &names) else { throw .malformed("a CNAME to no name") }
      return .canonicalName(name)
    // For what it is; whom it names is nobody's concern.
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

  private func name(_ value: JSONPiece?, _ names: inout Names) -> DNSName? {
    guard let name = value.flatMap({ $0.spelled(in: bytes, as: names.name) }) else { return nil }
    names.last = name
    return name
  }
}

/// A reply's names: nearly all are the question's, or the one that was read last.
private struct Names {
  let first: DNSName
  var last: DNSName?

  init(first: DNSName) { self.first = first }

  /// The name that a text spells; one that is known is not made again.
  func name(_ text: Span<UInt8>) -> DNSName? {
    if first.isSpelled(by: text) { return first }
    if let last, last.isSpelled(by: text) { return last }
    return DNSName(presentation: text)
  }
}

extension HostName {
  /// Whether a text spells it, with or without a final dot; one with an escape is not looked at.
  fileprivate func isSpelled(by text: Span<UInt8>) -> Bool {
    let name = self.text.utf8.span
    let count = text.count - (text.count > 1 && text[text.count - 1] == ASCII.dot ? 1 : 0)
    guard count == name.count else { return false }
    for index in 0..<count where ASCII.lowercased(text[index]) != name[index] { return false }
    return true
  }
}

extension JSONReader {
  /// Passes over a value and keeps where it stands, unless it is null; false if none comes next.
  fileprivate mutating func value(_ place: inout JSONPiece?) -> Bool {
    guard let value = value() else { return false }
    place = value.isNull ? nil : value
    return true
  }
}

extension JSONKey {
  fileprivate static let status = JSONKey("Status")
  fileprivate static let truncation = JSONKey("TC")
  fileprivate static let question = JSONKey("Question")
  fileprivate static let answer = JSONKey("Answer")
  fileprivate static let authority = JSONKey("Authority")
  fileprivate static let comment = JSONKey("Comment")
  fileprivate static let name = JSONKey("name")
  fileprivate static let type = JSONKey("type")
  fileprivate static let ttl = JSONKey("TTL")
  fileprivate static let data = JSONKey("data")
}
