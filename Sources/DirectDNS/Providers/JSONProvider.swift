// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// The JSON APIs of AliDNS, Google and Cloudflare, and all others of that form: `?name=&type=`.
public struct JSONProvider: NameableProvider, Hashable {
  /// What AliDNS needs to recognize a customer.
  public struct Signature: Sendable, Hashable {
    /// The account id, `uid`.
    public var account: String
    /// The AccessKey id, `ak`.
    public var keyID: String
    /// The AccessKey secret.
    public var secret: Secret

    /// Creates what a signature needs.
    public init(account: String, keyID: String, secret: Secret) {
      self.account = account
      self.keyID = keyID
      self.secret = secret
    }
  }

  /// A short name for logs, errors and metrics.
  public package(set) var name: String
  /// The endpoint.
  public let url: WebURL
  /// Signs each request for AliDNS; nil means that requests are not signed.
  public let signature: Signature?
  /// The client network that the provider is told (ECS); none by default.
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
  ///   - signature: signs each request; none by default.
  ///   - clientSubnet: the network to tell; none by default.
  public init(name: String, url: WebURL, signature: Signature? = nil, clientSubnet: IPNetwork? = nil) {
    self.name = name
    self.url = url
    self.signature = signature
    self.clientSubnet = clientSubnet
    prefix = url.queryPrefix + "name="
  }

  /// The request that asks a question.
  public func request(for question: AddressQuestion, at secondsSince1970: Int64) -> HTTPMessage {
    let host = question.host.text
    let type = question.family == .ipv4 ? "&type=A" : "&type=AAAA"
    return request(name: host, written: host, type: type, at: secondsSince1970)
  }

  /// - Parameters:
  ///   - name: the name without its final dot, as it is signed.
  ///   - written: the same as the URL has it.
  ///   - type: the parameter `type` as the URL has it.
  ///   - secondsSince1970: the wall clock.
  /// - Returns: the request.
  private func request(name: String, written: String, type: String, at secondsSince1970: Int64) -> HTTPMessage {
    var url = ASCII.text(prefix.utf8.span, written.utf8.span, type.utf8.span)
    if let clientSubnet { url += "&" + queryText(["edns_client_subnet": clientSubnet.description]) }
    if let signature {
      let key = Signing.alidns(
        account: signature.account, keyID: signature.keyID, secret: signature.secret, time: secondsSince1970,
        name: name)
      url +=
        "&"
        + queryText([
          "uid": signature.account, "ak": signature.keyID, "ts": String(secondsSince1970), "key": key,
        ])
    }
    var message = Self.message
    message.url = url
    return message
  }

  private static let refusalAdvice = "check the credentials and this machine's clock"

  /// What all requests have in common.
  private static let message = HTTPMessage(url: "", fields: [.accept: "application/dns-json"])

  /// Reads a reply; its content type must contain `json` or `javascript`.
  public func answer(from reply: HTTPReply, to question: AddressQuestion) throws(ProviderFailure) -> Answer {
    try reply.checkStatus(ifRefused: signature == nil ? nil : Self.refusalAdvice)
    // As most of them spell it; `contains` takes longer than reading all the rest of a reply.
    try reply.checkContentType { type in
      type == "application/json" || type == "application/dns-json" || type.contains("json")
        || type.contains("javascript")
    }
    return try DNSJSON.answer(from: reply.body, to: question, freshness: reply.freshness)
  }
}

extension JSONProvider: RecordProvider {
  /// The request that asks for records; the type is sent as a number, which every API accepts.
  public func request(for question: DNSQuestion, at secondsSince1970: Int64) -> HTTPMessage {
    let text = question.name.description
    let name = text == "." ? text : String(text.dropLast())
    let type = "&type=\(question.type.rawValue)"
    return request(name: name, written: queryEscaped(name), type: type, at: secondsSince1970)
  }

  /// Reads a reply; its content type must contain `json` or `javascript`.
  public func records(from reply: HTTPReply, to question: DNSQuestion) throws(ProviderFailure) -> RecordAnswer {
    try reply.checkStatus(ifRefused: signature == nil ? nil : Self.refusalAdvice)
    try reply.checkContentType { $0.contains("json") || $0.contains("javascript") }
    return try RecordAnswer(json: reply.body, to: question, freshness: reply.freshness)
  }
}
