// SPDX-License-Identifier: Apache-2.0
/// The reply format that the JSON APIs share; it has no RFC, and each spells some things its own way.
package enum DNSJSON {
  /// Reads the answer to a question out of a reply's body.
  package static func answer(
    from body: [UInt8], to question: DNSQuestion, freshness: HTTPFreshness = HTTPFreshness()
  ) throws(ProviderFailure) -> Answer {
    guard let json = JSONReader(body), json.isObject(json.root) else { throw .malformed("not a JSON object") }
    var reply = Reply(json: json, names: Names(first: question.name))
    // A missing status is no NOERROR: an error page in JSON has none either.
    guard let status = reply.status.flatMap(json.integer).flatMap({ UInt16(exactly: $0) }), status < 4096 else {
      throw .malformed("no DNS status in the JSON")
    }
    guard reply.truncation.map(json.isTrue) != true else { throw .malformed("a truncated reply") }
    try reply.check(against: question)
    let code = DNSMessage.ResponseCode(rawValue: status)
    guard code == .noError || code == .nameError else {
      throw ProviderFailure(.response, "answered \(code)" + reply.commentText)
    }
    return try AnswerSection.answer(
      to: question, responseCode: code, answers: try reply.records(reply.answer),
      authorities: try reply.records(reply.authority), freshness: freshness)
  }
}

/// A reply, and where the members stand that are read; one that is null stands nowhere.
private struct Reply {
  let json: JSONReader
  var names: Names
  private(set) var status, truncation, question, answer, authority, comment: Int?

  init(json: JSONReader, names: Names) {
    self.json = json
    self.names = names
    var place = json.root
    while let key = json.nextMember(&place) {
      let value = json.isNull(place) ? nil : place
      switch key {
      case .status: status = value
      case .truncation: truncation = value
      case .question: question = value
      case .answer: answer = value
      case .authority: authority = value
      case .comment: comment = value
      default: break
      }
      json.pass(&place)
    }
  }

  /// `Question` is an object at AliDNS and an array elsewhere.
  mutating func check(against expected: DNSQuestion) throws(ProviderFailure) {
    guard var place = question.flatMap(onlyQuestion) else {
      throw .malformed("a reply that does not repeat the question")
    }
    let echoed = Row(json, &place)
    guard let name = name(echoed.name), name == expected.name, type(echoed.type) == expected.type
    else { throw .malformed("a reply to another question") }
  }

  private func onlyQuestion(_ place: Int) -> Int? {
    guard !json.isObject(place) else { return place }
    var next = place
    guard json.isArray(place), json.nextElement(&next) else { return nil }
    let only = next
    json.pass(&next)
    return json.nextElement(&next) ? nil : only
  }

  /// A number at most, a string or a mnemonic at some.
  private func type(_ place: Int?) -> DNSRecordType? {
    guard let place else { return nil }
    if let number = json.integer(place) { return UInt16(exactly: number).map(DNSRecordType.init(rawValue:)) }
    return json.string(place).flatMap(DNSRecordType.init)
  }

  /// `Comment` is one string at Google and a list at Cloudflare.
  var commentText: String {
    var texts: [String] = []
    if var place = comment {
      if json.isArray(place) {
        while json.nextElement(&place) {
          if let text = json.string(place) { texts.append(text) }
          json.pass(&place)
        }
      } else if let text = json.string(place) {
        texts.append(text)
      }
    }
    return texts.isEmpty ? "" : " (" + texts.map { DirectDNSError.quoted($0) }.joined(separator: ", ") + ")"
  }

  // MARK: Records

  /// The members of a record, or of the question.
  private struct Row {
    var name, type, ttl, data: Int?

    /// Goes to behind an object; what is none has no member.
    init(_ json: JSONReader, _ place: inout Int) {
      guard json.isObject(place) else {
        json.pass(&place)
        return
      }
      while let key = json.nextMember(&place) {
        let value = json.isNull(place) ? nil : place
        switch key {
        case .name: name = value
        case .type: type = value
        case .ttl: ttl = value
        case .data: data = value
        default: break
        }
        json.pass(&place)
      }
    }
  }

  mutating func records(_ section: Int?) throws(ProviderFailure) -> [DNSRecord] {
    guard var place = section else { return [] }
    guard json.isArray(place) else { throw .malformed("a section that is no list") }
    var records: [DNSRecord] = []
    while json.nextElement(&place) {
      let row = Row(json, &place)
      guard let owner = name(row.name), let type = type(row.type) else {
        throw .malformed("a record without a name or a type")
      }
      guard let data = try data(row.data, type) else { continue }
      guard let ttl = row.ttl.flatMap(json.integer) ?? (type == .ns ? 0 : nil) else {
        throw .malformed("a record without a TTL")
      }
      if records.isEmpty { records.reserveCapacity(4) }
      records.append(DNSRecord(owner: owner, type: type, ttl: UInt32(clamping: max(0, ttl)), data: data))
    }
    return records
  }

  /// The data of the types that this library reads; nil for any other.
  private mutating func data(_ place: Int?, _ type: DNSRecordType) throws(ProviderFailure) -> DNSRecord.Data? {
    switch type {
    case .a, .aaaa:
      let address = place.flatMap { json.spelled($0) { IPAddress(ascii: $0) } }
      guard let address, DNSRecordType(address.family) == type else {
        throw .malformed("a record of type \(type) whose data is no such address")
      }
      return .address(address)
    case .cname:
      guard let name = name(place) else { throw .malformed("a CNAME to no name") }
      return .canonicalName(name)
    // For what it is; whom it names is nobody's concern.
    case .ns: return .opaque([])
    case .soa: return place.flatMap { json.spelled($0, as: startOfAuthority) }
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

  private mutating func name(_ place: Int?) -> DNSName? {
    guard let name = place.flatMap({ json.spelled($0, as: names.name) }) else { return nil }
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
