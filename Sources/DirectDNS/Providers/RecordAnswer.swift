// SPDX-License-Identifier: Apache-2.0
/// A provider's answer to the question for records of one type.
public struct RecordAnswer: Hashable, Sendable {
  /// The records of the type that was asked for, at the end of the CNAME chain; empty for a negative answer.
  public var records: [ResourceRecord]
  /// Whether the name does not exist (NXDOMAIN); one that exists may still have no such record (NODATA).
  public var isNameMissing: Bool
  /// The end of the CNAME chain, if the name is an alias.
  public var canonicalName: DNSName?
  /// Whether the provider says that it has validated the answer by DNSSEC (AD, RFC 6840 §5.8); nil if its format cannot
  /// say so.
  public var isAuthenticated: Bool?

  /// Creates an answer.
  public init(
    records: [ResourceRecord], isNameMissing: Bool = false, canonicalName: DNSName? = nil,
    isAuthenticated: Bool? = nil
  ) {
    self.records = records
    self.isNameMissing = isNameMissing
    self.canonicalName = canonicalName
    self.isAuthenticated = isAuthenticated
  }

  /// Converts the answer of a provider whose format carries only addresses.
  init(_ answer: Answer, to question: DNSQuestion) {
    let name = answer.canonicalName.map(DNSName.init)
    let records = answer.addresses.map {
      ResourceRecord(owner: name ?? question.name, type: question.type, ttl: answer.ttl ?? 0, data: .address($0))
    }
    self.init(records: records, isNameMissing: answer.content == .negative(.nameNotFound), canonicalName: name)
  }

  /// Reads an answer section: a record counts only if it belongs to the chain from the question's name.
  ///
  /// - Throws: that the response code is neither NOERROR nor NXDOMAIN, that the chain is too long, that it
  ///   is a referral, or that all records of the type belong to others.
  init(
    to question: DNSQuestion, responseCode: DNSMessage.ResponseCode, flags: ResponseFlags = ResponseFlags(),
    answers: [ResourceRecord], authority: [DNSRecordType] = [], isAuthenticated: Bool, explanation: String = ""
  ) throws(ProviderFailure) {
    guard responseCode == .noError || responseCode == .nameError else {
      throw ProviderFailure(.response, "answered \(responseCode)\(explanation)")
    }
    var name = question.name
    var links = 0
    while true {
      let found = answers.filter { $0.owner == name && ($0.type == question.type || question.type == .any) }
      if !found.isEmpty {
        self.init(records: responseCode == .noError ? found : [], isNameMissing: responseCode == .nameError)
        break
      }
      guard let target = Self.alias(of: name, in: answers) else {
        if responseCode == .noError {
          guard !answers.contains(where: { $0.type == question.type }) else { throw .foreignRecords(question.type) }
          try flags.checkIsAnswer(authority: authority, aliases: links)
        }
        self.init(records: [], isNameMissing: responseCode == .nameError)
        break
      }
      links += 1
      guard links <= AnswerSection.chainLimit else { throw .endlessChain }
      name = target
    }
    self.isAuthenticated = isAuthenticated
    if links > 0 { canonicalName = name }
  }

  private static func alias(of name: DNSName, in answers: [ResourceRecord]) -> DNSName? {
    for record in answers where record.owner == name && record.type == .cname {
      if case .name(let target) = record.data { return target }
    }
    return nil
  }
}
