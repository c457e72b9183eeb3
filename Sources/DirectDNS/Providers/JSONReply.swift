// SPDX-License-Identifier: Apache-2.0
/// A reply, and the places of those values that are used; one that is null counts as missing.
struct JSONReply {
  let bytes: [UInt8]
  private var statusToken, truncation: JSONToken?
  private var hasComment = false
  private(set) var question, answer, authority: Section?
  private(set) var rows: [Row] = []

  /// The members of a record, or of the question.
  struct Row { var name, type, ttl, data: JSONToken? }

  /// A member that holds rows.
  enum Section {
    /// The index of the row.
    case object(Int)
    case list(Range<Int>)
    case neither
  }

  /// Reads a whole text; nil if it is not JSON, or not an object.
  init?(_ bytes: [UInt8]) {
    self.bytes = bytes
    rows.reserveCapacity(4)
    guard JSONReader.read(bytes, { reader in reader.object { name, reader in member(name, &reader) } }) else {
      return nil
    }
  }

  private mutating func member(_ name: JSONToken, _ reader: inout JSONReader) -> Bool {
    let key = name.key(in: bytes)
    switch key {
    case keys.status: return reader.value(&statusToken)
    case keys.truncation: return reader.value(&truncation)
    case keys.question, keys.answer, keys.authority:
      let first = rows.count
      let isList = reader.isAtArray(), isObject = reader.isAtObject()
      var value: JSONToken?
      guard
        isList ? reader.array({ reader in row(&reader) }) : isObject ? row(&reader) : reader.value(&value)
      else { return false }
      let section: Section? =
        isList ? .list(first..<rows.count) : isObject ? .object(first) : value.map { _ in .neither }
      switch key {
      case keys.question: question = section
      case keys.answer: answer = section
      default: authority = section
      }
      return true
    case keys.comment:
      hasComment = true
      return reader.value() != nil
    default: return reader.value() != nil
    }
  }

  /// Reads a row; anything but an object gives an empty one.
  private mutating func row(_ reader: inout JSONReader) -> Bool {
    var row = Row()
    let isRead =
      reader.isAtObject()
      ? reader.object { name, reader in
        switch name.key(in: bytes) {
        case keys.name: reader.value(&row.name)
        case keys.type: reader.value(&row.type)
        case keys.ttl: reader.value(&row.ttl)
        case keys.data: reader.value(&row.data)
        default: reader.value() != nil
        }
      } : reader.value() != nil
    rows.append(row)
    return isRead
  }

  var status: Int64? { statusToken?.integer(in: bytes) }
  var isTruncated: Bool { truncation?.isSet(in: bytes) == true }

  /// `Question` is an object at AliDNS and an array elsewhere.
  var onlyQuestion: Row? {
    switch question {
    case .object(let row): rows[row]
    case .list(let places): places.count == 1 ? rows[places.lowerBound] : nil
    case .neither, nil: nil
    }
  }

  /// Only for the message of a failure, so it is read again when it is needed.
  ///
  /// In parentheses: one string at Google, a list at Cloudflare.
  var comment: String {
    guard hasComment, let value = JSONValue(bytes)?["Comment"] else { return "" }
    let texts = value.string.map { [$0] } ?? value.elements?.compactMap(\.string) ?? []
    return texts.isEmpty ? "" : " (" + texts.map { DirectDNSError.quoted($0) }.joined(separator: ", ") + ")"
  }

  /// Whether the server says that it has validated the answer by DNSSEC (AD); read again, since addresses do not need it.
  var isAuthenticated: Bool { JSONValue(bytes)?["AD"]?.isTrue == true }

  // MARK: Addresses

  /// The answer, if the reply has the form that nearly all have; nil if its records are to be read one by one.
  ///
  /// Such a reply has addresses of the name itself and no other records, so only the addresses are read.
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
      addresses.keep(address)
    }
    return Answer(.addresses(addresses), ttl: freshness.ttl(UInt32(ttl)))
  }

  private func isAsked(_ row: Row, _ asked: AddressQuestion) -> Bool {
    row.type?.integer(in: bytes) == Int64(asked.type.rawValue)
      && row.name?.spelled(in: bytes) { asked.host.isSpelled(by: $0) } == true
  }
}

extension HostName {
  /// Whether a text is this name, with or without a final dot; false for any text with an escape.
  fileprivate func isSpelled(by text: Span<UInt8>) -> Bool {
    let name = self.text.utf8.span
    let count = text.count - (text.count > 1 && text[text.count - 1] == ASCII.dot ? 1 : 0)
    guard count == name.count else { return false }
    for index in 0..<count where text[index] != name[index] {
      // Nearly all servers repeat the name as they were sent it.
      guard ASCII.lowercased(text[index]) == name[index] else { return false }
    }
    return true
  }
}

extension JSONReader {
  /// Reads a value and keeps its token, or nil if it is null; false if none comes next.
  fileprivate mutating func value(_ token: inout JSONToken?) -> Bool {
    guard let value = value() else { return false }
    token = value.isNull ? nil : value
    return true
  }
}

/// The names that are looked for: one constant, since each would be initialised behind a lock of its own.
private let keys = JSONKeys()

private struct JSONKeys {
  let status = JSONKey("Status"), truncation = JSONKey("TC"), question = JSONKey("Question")
  let answer = JSONKey("Answer"), authority = JSONKey("Authority"), comment = JSONKey("Comment")
  let name = JSONKey("name"), type = JSONKey("type"), ttl = JSONKey("TTL"), data = JSONKey("data")
}
