// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

extension MessageProvider: RecordProvider {
  /// The request that asks for records; its message has the id 0 and asks for the AD bit (RFC 6840 §5.7).
  ///
  /// It always has EDNS: without it no server may say why it failed (RFC 8914 §3, RFC 6891 §7).
  public func request(for question: DNSQuestion, at secondsSince1970: Int64) -> HTTPMessage {
    let options = clientSubnet.map { [DNSMessage.EDNS.Option.clientSubnet($0)] } ?? []
    var bytes = DNSMessage(questions: [question], edns: DNSMessage.EDNS(options: options)).encoded()
    bytes[3] |= DNSMessage.authenticData
    switch method {
    case .get:
      return HTTPMessage(
        url: url.queryPrefix + "dns=" + Base64.urlEncoded(bytes), fields: [.accept: "application/dns-message"])
    case .post:
      return HTTPMessage(
        url: url.requestText,
        fields: [.accept: "application/dns-message", .contentType: "application/dns-message"], body: bytes)
    }
  }

  /// Reads a reply: a message with the id 0, not truncated, that repeats the question.
  public func records(from reply: HTTPReply, to question: DNSQuestion) throws(ProviderFailure) -> RecordAnswer {
    try reply.checkStatus()
    try reply.checkContentType { $0 == "application/dns-message" }
    return try RecordAnswer(decoding: reply.body, to: question, freshness: reply.freshness)
  }
}

extension DNSMessage {
  /// The AD bit, of the header's fourth byte.
  fileprivate static let authenticData: UInt8 = 0x20
}

extension RecordAnswer {
  /// Reads a response's bytes.
  ///
  /// Other than in a response that addresses are read from, one record that is malformed spoils no other.
  init(decoding bytes: [UInt8], to question: DNSQuestion, freshness: HTTPFreshness) throws(ProviderFailure) {
    let message: RecordMessage
    do { message = try RecordMessage(decoding: bytes, freshness: freshness) } catch {
      throw .malformed("not a DNS message: \(error)")
    }
    guard message.flags & 0xf800 == 0x8000 else { throw .malformed("a DNS message that is no response") }
    guard message.id == 0 else { throw .malformed("a response with another id") }
    guard message.questions == [question] else { throw .malformed("a response to another question") }
    guard message.flags & 0x0200 == 0 else { throw .malformed("a truncated response") }
    try self.init(
      to: question, responseCode: message.responseCode,
      flags: ResponseFlags(
        isAuthoritative: message.flags & 0x0400 != 0, recursionAvailable: message.flags & 0x0080 != 0),
      answers: message.answers, authority: message.authority,
      isAuthenticated: message.flags & UInt16(DNSMessage.authenticData) != 0, explanation: message.explanation)
  }
}

/// What is read of a message that answers a question for records: the answer section in full, of the others no more than
/// types and EDNS.
private struct RecordMessage {
  let id: UInt16
  let flags: UInt16
  var questions: [DNSQuestion] = []
  var answers: [ResourceRecord] = []
  /// The types of the authority section's records.
  var authority: [DNSRecordType] = []
  var responseCode: DNSMessage.ResponseCode
  /// What the server says of a failure (RFC 8914).
  var explanation = ""

  init(decoding bytes: [UInt8], freshness: HTTPFreshness) throws(DNSMessageError) {
    var reader = DNSMessageReader(bytes: bytes)
    id = try reader.uint16()
    flags = try reader.uint16()
    responseCode = DNSMessage.ResponseCode(rawValue: flags & 0xf)
    let questionCount = try reader.uint16()
    let answerCount = try reader.uint16()
    let authorityCount = Int(try reader.uint16())
    let otherCount = authorityCount + Int(try reader.uint16())
    for _ in 0..<questionCount {
      let name = try reader.name()
      let type = DNSRecordType(rawValue: try reader.uint16())
      questions.append(DNSQuestion(name: name, type: type, recordClass: try reader.uint16()))
    }
    for _ in 0..<answerCount {
      let (head, end) = try reader.recordHead()
      let data = reader.recordData(of: head.type, until: end)
      guard head.recordClass == DNSQuestion.internetClass else { continue }
      answers.append(
        ResourceRecord(owner: head.owner, type: head.type, ttl: freshness.lifetime(head.lifetime), data: data))
    }
    for index in 0..<otherCount {
      var (head, end) = try reader.recordHead()
      if index < authorityCount, head.recordClass == DNSQuestion.internetClass { authority.append(head.type) }
      guard case .opaque(let data) = reader.recordData(of: head.type, until: end), head.type == .opt else { continue }
      head.data = .opaque(data)
      responseCode = DNSMessage.ResponseCode(rawValue: UInt16(head.ttl >> 24) << 4 | flags & 0xf)
      // For the message of a failure alone: options that cannot be read spoil no answer.
      explanation = (try? reader.options(head)).map { DNSMessage.EDNS(options: $0).explanation } ?? ""
    }
    guard reader.offset == bytes.count else { throw reader.error("bytes behind the last record") }
  }
}

extension DNSMessageReader {
  /// What stands before a record's data, and where the data ends.
  fileprivate mutating func recordHead() throws(DNSMessageError) -> (DNSRecord, end: Int) {
    let owner = try name()
    let type = DNSRecordType(rawValue: try uint16())
    let head = DNSRecord(owner: owner, type: type, recordClass: try uint16(), ttl: try uint32(), data: .opaque([]))
    let end = Int(try uint16()) + offset
    guard end <= bytes.count else { throw error("a record's data runs past the end") }
    return (head, end)
  }
}

extension DNSMessage.EDNS {
  /// The extended errors as they stand behind a response code; empty where there is none.
  var explanation: String {
    extendedErrors.map {
      " (extended error \($0.code)\($0.text.isEmpty ? "" : " \(DirectDNSError.quoted($0.text))"))"
    }.joined()
  }
}
