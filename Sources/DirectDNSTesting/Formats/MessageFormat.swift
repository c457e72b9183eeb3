// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import HTTPTypes

/// DNS messages over HTTP (RFC 8484), by GET and POST.
struct MessageFormat: ProviderFormat {
  static let contentType = "application/dns-message"

  /// Whether a request to `/dns-query` is one of RFC 8484, and not one for JSON.
  static func isMeant(by request: RecordedRequest) -> Bool {
    request.method == .post || request.value("dns") != nil || request.value("name") == nil
  }

  func questions(
    in request: RecordedRequest, configuration: FakeProviderConfiguration
  ) -> [DNSQuestion] {
    (try? DNSMessage(decoding: bytes(of: request)))?.questions ?? []
  }

  func reply(to request: RecordedRequest, in context: AnswerContext) -> ProviderReply {
    switch request.method {
    case .get: break
    case .post:
      let type = request.fields[.contentType]?.split(separator: ";").first
      guard type?.lowercased() == Self.contentType else {
        return .refusal(415, "The body has to be \(Self.contentType).")
      }
    default: return .refusal(405, "Only GET and POST.", fields: [.allow: "GET, POST"])
    }
    guard !context.distortion.refusesCredentials else { return .refusal(401, "Unknown account.") }
    guard let query = try? DNSMessage(decoding: bytes(of: request)), !query.isResponse,
      let question = query.questions.first, query.questions.count == 1
    else { return .refusal(400, "This is not a DNS query.") }
    return reply(to: query, question, in: context)
  }

  /// The reply to a query that was understood; also for JSON's `ct=application/dns-message`.
  func reply(to query: DNSMessage, _ question: DNSQuestion, in context: AnswerContext) -> ProviderReply {
    let lookup = context.lookup(question)
    var echo = question
    echo.name = context.echoed(question.name)
    let message = DNSMessage(
      id: context.distortion.hasWrongID ? query.id ^ 0x5555 : query.id, isResponse: true,
      isTruncated: context.distortion.isTruncated, recursionDesired: query.recursionDesired,
      recursionAvailable: true, responseCode: lookup.responseCode, questions: [echo],
      answers: lookup.answers, authorities: lookup.authorities,
      edns: query.edns == nil ? nil : DNSMessage.EDNS())
    var fields = HTTPFields()
    if let lifetime = lookup.lifetime { fields[.cacheControl] = "max-age=\(lifetime)" }
    return ProviderReply(contentType: Self.contentType, fields: fields, body: message.encoded())
  }

  private func bytes(of request: RecordedRequest) -> [UInt8] {
    guard request.method != .post else { return request.body }
    return request.value("dns").flatMap(Base64.urlDecoded) ?? []
  }
}
