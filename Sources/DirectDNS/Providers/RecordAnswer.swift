// SPDX-License-Identifier: Apache-2.0
/// A provider's answer to the question for records of one type.
public struct RecordAnswer: Hashable, Sendable {
  /// The records of the type that was asked for, at the end of the CNAME chain; empty for a negative answer.
  public var records: [DNSRecord]
  /// Whether the name does not exist (NXDOMAIN); one that exists may still have no such record (NODATA).
  public var isNameMissing: Bool
  /// The end of the CNAME chain, if the name is an alias.
  public var canonicalName: DNSName?
  /// Whether the provider says that it has validated the answer by DNSSEC (AD, RFC 6840 §5.8); nil if its format cannot
  /// say so.
  public var isAuthenticated: Bool?

  /// Creates an answer.
  public init(
    records: [DNSRecord], isNameMissing: Bool = false, canonicalName: DNSName? = nil,
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
      DNSRecord(owner: name ?? question.name, type: question.type, ttl: answer.ttl ?? 0, data: .address($0))
    }
    self.init(records: records, isNameMissing: answer.content == .negative(.nameNotFound), canonicalName: name)
  }

  /// Reads an answer section: a record counts only if it belongs to the chain from the question's name.
  ///
  /// Malformed data is kept as it came: anybody may publish it, and it says nothing about the provider. Only an address
  /// that was asked for has to be one, as in an ``Answer``.
  ///
  /// - Throws: that the response code is neither NOERROR nor NXDOMAIN, that the chain is too long, that it
  ///   is a referral, that all records of the type belong to others, or that a record of the answer cannot be read.
  init(
    to question: DNSQuestion, responseCode: DNSMessage.ResponseCode, flags: ResponseFlags = ResponseFlags(),
    answers: [some AnswerRecord], authority: [DNSRecordType] = [], isAuthenticated: Bool,
    freshness: HTTPFreshness = HTTPFreshness()
  ) throws(ProviderFailure) {
    try responseCode.checkIsAnswer()
    let chain = try AnswerChain(to: question, among: answers)
    var found: [DNSRecord] = []
    if responseCode == .noError {
      for record in answers where chain.holds(record) {
        let (type, ttl) = (try record.type, try record.lifetime)
        let isAddress = question.type == .a || question.type == .aaaa
        let data = try isAddress ? .address(record.address) : record.data
        found.append(DNSRecord(owner: chain.end, type: type, ttl: freshness.lifetime(ttl), data: data))
      }
      if found.isEmpty { try chain.checkIsNegative(answers, flags: flags, authority: authority) }
    }
    self.init(
      records: found, isNameMissing: responseCode == .nameError, canonicalName: chain.links > 0 ? chain.end : nil,
      isAuthenticated: isAuthenticated)
  }
}
