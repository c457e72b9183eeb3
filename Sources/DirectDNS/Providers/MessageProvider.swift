// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// RFC 8484: DNS messages over HTTP, by GET or POST.
public struct MessageProvider: NameableProvider, Hashable {
  /// The two methods of RFC 8484.
  public enum Method: Sendable, Hashable {
    /// The message is in the URL: caches on the way can help, but names may end up in the server's logs.
    case get
    /// The message is the body.
    case post
  }

  /// A short name for logs, errors and metrics.
  public package(set) var name: String
  /// The endpoint, without a message.
  public let url: WebURL
  /// How messages are sent.
  public let method: Method
  /// The client network that the provider is told (ECS, RFC 7871); none by default.
  public let clientSubnet: IPNetwork?

  private let prefix: String

  /// Creates a provider.
  ///
  /// Over plain http anyone on the way can read and change the answers: ``ProviderConfiguration`` refuses such a URL
  /// where it reads one from a text, and this does not.
  ///
  /// - Parameters:
  ///   - name: a short name.
  ///   - url: the endpoint, of http or https; a query that it has is kept.
  ///   - method: GET by default.
  ///   - clientSubnet: the network to tell; none by default.
  public init(name: String, url: WebURL, method: Method = .get, clientSubnet: IPNetwork? = nil) {
    self.name = name
    self.url = url
    self.method = method
    self.clientSubnet = clientSubnet
    prefix = method == .get ? url.queryPrefix + "dns=" : url.requestText
  }

  /// The request that asks a question; its message has the id 0, so that equal questions are equal URLs.
  public func request(for question: AddressQuestion, at secondsSince1970: Int64) -> HTTPMessage {
    request(query(question))
  }

  private func request(_ bytes: [UInt8]) -> HTTPMessage {
    var request: HTTPMessage
    switch method {
    case .get:
      request = Self.get
      request.url = ASCII.text(prefix.utf8.span, Base64.urlBytes(bytes).span, Span())
    case .post:
      request = Self.post
      request.url = prefix
      request.body = bytes
    }
    return request
  }

  private func query(_ question: AddressQuestion) -> [UInt8] {
    guard let clientSubnet else { return DNSMessage.query(question) }
    return DNSMessage(
      questions: [question.message], edns: DNSMessage.EDNS(options: [.clientSubnet(clientSubnet)])
    ).encoded()
  }

  // What all requests of a method have in common.
  private static let get = HTTPMessage(url: "", fields: [.accept: "application/dns-message"])
  private static let post = HTTPMessage(
    url: "", fields: [.accept: "application/dns-message", .contentType: "application/dns-message"])

  /// Reads a reply: a message with the id 0, not truncated, that repeats the question.
  public func answer(from reply: HTTPReply, to question: AddressQuestion) throws(ProviderFailure) -> Answer {
    try reply.checkStatus()
    try reply.checkContentType { $0 == "application/dns-message" }
    if let answer = AddressReply.answer(from: reply.body, to: question, freshness: reply.freshness) { return answer }
    return try DNSMessage.answer(from: reply.body, to: question.message, id: 0, freshness: reply.freshness)
  }
}

extension DNSMessage {
  /// Reads the response to a question; any other message is a failure, whatever its RCODE.
  package static func response(
    decoding bytes: [UInt8], to question: DNSQuestion, id: UInt16
  ) throws(ProviderFailure) -> DNSMessage {
    let message: DNSMessage
    do {
      message = try DNSMessage(decoding: bytes)
    } catch {
      throw .malformed("not a DNS message: \(error)")
    }
    guard message.isResponse, message.opcode == 0 else { throw .malformed("a DNS message that is not a response") }
    guard message.id == id else { throw .malformed("a response with another id") }
    guard message.questions.count == 1, message.questions.first == question else {
      // An error may come without the question: Unbound refuses like that (`deny_refuse`).
      if message.questions.isEmpty { try message.responseCode.checkIsAnswer(message.edns?.explanation ?? "") }
      throw .malformed("a response to another question")
    }
    guard !message.isTruncated else { throw .truncated("response") }
    return message
  }

  /// Reads the answer to a question out of a response's bytes.
  package static func answer(
    from bytes: [UInt8], to question: DNSQuestion, id: UInt16, freshness: HTTPFreshness
  ) throws(ProviderFailure) -> Answer {
    let message = try response(decoding: bytes, to: question, id: id)
    try message.responseCode.checkIsAnswer(message.edns?.explanation ?? "")
    return try AnswerSection.answer(
      to: question, responseCode: message.responseCode, flags: message.responseFlags, answers: message.answers,
      authorities: message.authorities, freshness: freshness)
  }

  fileprivate var responseFlags: ResponseFlags {
    ResponseFlags(isAuthoritative: isAuthoritative, recursionAvailable: recursionAvailable)
  }
}

extension DNSMessage.EDNS.Option {
  /// The client's network (RFC 7871 §6).
  static func clientSubnet(_ network: IPNetwork) -> Self {
    let length = (network.prefixLength + 7) / 8
    let header: [UInt8] = [0, network.address.family == .ipv4 ? 1 : 2, UInt8(network.prefixLength), 0]
    return Self(code: 8, data: header + network.address.bytes.prefix(length))
  }
}

extension MessageProvider: RecordProvider {
  /// The request that asks for records; its message has the id 0 and asks for the AD bit (RFC 6840 §5.7).
  ///
  /// It always has EDNS: without it no server may say why it failed (RFC 8914 §3, RFC 6891 §7).
  public func request(for question: DNSQuestion, at secondsSince1970: Int64) -> HTTPMessage {
    let options = clientSubnet.map { [DNSMessage.EDNS.Option.clientSubnet($0)] } ?? []
    var bytes = DNSMessage(questions: [question], edns: DNSMessage.EDNS(options: options)).encoded()
    bytes[3] |= DNSMessage.authenticData
    return request(bytes)
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
  init(decoding bytes: [UInt8], to question: DNSQuestion, freshness: HTTPFreshness) throws(ProviderFailure) {
    let message = try DNSMessage.response(decoding: bytes, to: question, id: 0)
    try message.responseCode.checkIsAnswer(message.edns?.explanation ?? "")
    try self.init(
      to: question, responseCode: message.responseCode, flags: message.responseFlags, answers: message.answers,
      authority: message.authorities.filter(\.isInternet).map(\.type),
      isAuthenticated: bytes[3] & DNSMessage.authenticData != 0, freshness: freshness)
  }
}

extension DNSMessage.EDNS {
  /// The extended errors as a text to follow a response code; empty if there are none.
  var explanation: String {
    extendedErrors.map {
      " (extended error \($0.code)\($0.text.isEmpty ? "" : " \(DirectDNSError.quoted($0.text))"))"
    }.joined()
  }
}
