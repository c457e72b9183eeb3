// SPDX-License-Identifier: Apache-2.0
/// A record of an answer section, whatever the format.
///
/// A reply may hold records that nobody asked for, and those may be odd in every way. So one that cannot belong to the
/// answer is passed over unread. What a record does not say of itself may be anything: such a record is read, and fails.
protocol AnswerRecord {
  /// Whether it may be a record of that name, in class IN.
  func belongs(to name: DNSName) -> Bool
  /// Whether it may be of that type.
  func isOf(_ type: DNSRecordType) -> Bool

  /// The type.
  var type: DNSRecordType { get throws(ProviderFailure) }
  /// The lifetime in seconds, at most seven days.
  var lifetime: UInt32 { get throws(ProviderFailure) }
  /// What the record says; malformed data is kept as it came.
  var data: RecordData { get throws(ProviderFailure) }
}

extension AnswerRecord {
  /// The address of an A or AAAA record.
  var address: IPAddress {
    get throws(ProviderFailure) {
      guard case .address(let address) = try data else { throw .malformedData(of: try type) }
      return address
    }
  }

  /// The name that a CNAME record leads to.
  var target: DNSName {
    get throws(ProviderFailure) {
      guard case .name(let name) = try data else { throw .malformedData(of: try type) }
      return name
    }
  }
}

extension DNSRecord: AnswerRecord {
  func belongs(to name: DNSName) -> Bool { owner == name && isInternet }
  func isOf(_ type: DNSRecordType) -> Bool { self.type == type }

  var isInternet: Bool { recordClass == DNSQuestion.internetClass }
}

/// The way from a question's name over CNAME records to the name that has the answer's records, if any has them.
struct AnswerChain {
  /// The longest chain that is followed.
  static let limit = 16

  /// The name at the end.
  private(set) var end: DNSName
  /// How many aliases lead there.
  private(set) var links = 0
  /// The shortest lifetime of those aliases, in seconds.
  private(set) var lifetime = UInt32.max
  private let type: DNSRecordType

  /// Follows the chain.
  ///
  /// - Throws: that it is too long, or that an alias of it cannot be read.
  init(to question: DNSQuestion, among records: [some AnswerRecord]) throws(ProviderFailure) {
    end = question.name
    type = question.type
    while let alias = alias(among: records) {
      links += 1
      guard links <= Self.limit else { throw .endlessChain }
      lifetime = min(lifetime, try alias.lifetime)
      end = try alias.target
    }
  }

  /// The alias at the end, if that name has no record of the answer.
  private func alias<Record: AnswerRecord>(among records: [Record]) -> Record? {
    var alias: Record?
    for record in records {
      if holds(record) { return nil }
      if alias == nil, record.isOf(.cname), record.belongs(to: end) { alias = record }
    }
    return alias
  }

  /// Whether a record is one of the answer's.
  func holds(_ record: some AnswerRecord) -> Bool {
    (type == .any || record.isOf(type)) && record.belongs(to: end)
  }

  /// Checks that a NOERROR response none of whose records is the answer's says that there is none.
  func checkIsNegative(
    _ records: [some AnswerRecord], flags: ResponseFlags, authority: some Sequence<DNSRecordType>
  ) throws(ProviderFailure) {
    guard !records.contains(where: { $0.isOf(type) }) else { throw .foreignRecords(type) }
    try flags.checkIsAnswer(authority: authority, aliases: links)
  }
}

extension ProviderFailure {
  /// A fault of those who published the names, not of the endpoint: three such names must not open its breaker.
  static let endlessChain = ProviderFailure(
    .response, "a CNAME chain of more than \(AnswerChain.limit) links, or a loop")

  /// The answer section has records of the type, and none that belongs to the question's name: NODATA has no record of
  /// the type (RFC 2308 §2.2), and taken for it, such a response would replace a known answer.
  static func foreignRecords(_ type: DNSRecordType) -> ProviderFailure {
    ProviderFailure(.response, "answered with \(type) records of other names or classes alone")
  }

  /// The data of a record that belongs to the answer is malformed.
  ///
  /// Anybody may publish an alias for what this library cannot read as a name; an address is written by the endpoint.
  fileprivate static func malformedData(of type: DNSRecordType) -> ProviderFailure {
    ProviderFailure(type == .cname ? .response : .transport, "the data of a \(type) record of the answer is malformed")
  }
}
