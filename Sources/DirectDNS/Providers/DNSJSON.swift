// SPDX-License-Identifier: Apache-2.0
/// The reply format that the JSON APIs share; it has no RFC, and each API has variants of its own.
package enum DNSJSON {
  /// Reads the answer to a question out of a reply's body.
  package static func answer(
    from body: [UInt8], to question: AddressQuestion, freshness: HTTPFreshness = HTTPFreshness()
  ) throws(ProviderFailure) -> Answer {
    guard let reply = JSONReply(body) else { throw .malformed("not a JSON object") }
    if let answer = reply.addresses(of: question, freshness) { return answer }
    let question = question.message
    let response = try JSONResponse(reply, to: question)
    return try AnswerSection.answer(
      to: question, responseCode: response.code, answers: response.answers, authorities: response.authorities,
      freshness: freshness)
  }
}

extension RecordAnswer {
  /// Reads a reply's body, in which records' data is text.
  init(json body: [UInt8], to question: DNSQuestion, freshness: HTTPFreshness) throws(ProviderFailure) {
    guard let reply = JSONReply(body) else { throw .malformed("not a JSON object") }
    let response = try JSONResponse(reply, to: question)
    try self.init(
      to: question, responseCode: response.code, answers: response.answers,
      authority: response.authorities.map(\.type), isAuthenticated: reply.isAuthenticated, freshness: freshness)
  }
}

/// A reply that answers a question, record by record.
private struct JSONResponse {
  let code: DNSMessage.ResponseCode
  let answers: [JSONRecord]
  /// Those by which a negative answer is judged.
  let authorities: [DNSRecord]

  init(_ reply: JSONReply, to question: DNSQuestion) throws(ProviderFailure) {
    // A missing status does not count as NOERROR: an error page in JSON has none either.
    guard let status = reply.status.flatMap({ UInt16(exactly: $0) }), status < 4096 else {
      throw .malformed("no DNS status in the JSON")
    }
    code = DNSMessage.ResponseCode(rawValue: status)
    guard let asked = reply.onlyQuestion else {
      // An error may come without the question, as in DNS messages; a larger number need not be a DNS status.
      if status < 16 { try code.checkIsAnswer(reply.comment) }
      throw .malformed("a reply that does not repeat the question")
    }
    var names = JSONNames(first: question.name)
    guard names.name(asked.name, in: reply.bytes) == question.name,
      DNSRecordType(asked.type, in: reply.bytes) == question.type
    else { throw .malformed("a reply to another question") }
    guard !reply.isTruncated else { throw .truncated("reply") }
    try code.checkIsAnswer(reply.comment)
    answers = try reply.records(reply.answer, &names)
    authorities = try reply.records(reply.authority, &names).compactMap(\.authority)
  }
}

extension JSONReply {
  fileprivate func records(_ section: Section?, _ names: inout JSONNames) throws(ProviderFailure) -> [JSONRecord] {
    guard let section else { return [] }
    guard case .list(let places) = section else { throw .malformed("a section that is not a list") }
    var records: [JSONRecord] = []
    records.reserveCapacity(places.count)
    for place in places { records.append(JSONRecord(rows[place], in: bytes, &names)) }
    return records
  }
}
