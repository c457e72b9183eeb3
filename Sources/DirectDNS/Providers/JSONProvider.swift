// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// The JSON APIs of AliDNS, Google and Cloudflare, and all others of that form: `?name=&type=`.
public struct JSONProvider: NameableProvider {
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
  /// - Parameters:
  ///   - name: a short name.
  ///   - url: the endpoint; a query that it has is kept.
  ///   - signature: signs each request; none by default.
  ///   - clientSubnet: the network to tell; none by default.
  public init(name: String, url: WebURL, signature: Signature? = nil, clientSubnet: IPNetwork? = nil) {
    self.name = name
    self.url = url
    self.signature = signature
    self.clientSubnet = clientSubnet
    prefix = url.queryPrefix
  }

  /// The request that asks a question.
  public func request(for question: AddressQuestion, at secondsSince1970: Int64) -> HTTPMessage {
    let host = question.host.text
    return request(name: host, written: host, type: question.family == .ipv4 ? "A" : "AAAA", at: secondsSince1970)
  }

  /// - Parameters:
  ///   - name: the name without its final dot, as it is signed.
  ///   - written: the same as the URL has it.
  ///   - type: the type as the URL has it.
  ///   - secondsSince1970: the wall clock.
  /// - Returns: the request.
  private func request(name: String, written: String, type: String, at secondsSince1970: Int64) -> HTTPMessage {
    var url = prefix
    url.reserveCapacity(prefix.utf8.count + written.utf8.count + 16)
    url += "name="
    url += written
    url += "&type="
    url += type
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

  /// What all requests have in common.
  private static let message = HTTPMessage(url: "", fields: [.accept: "application/dns-json"])

  /// Reads a reply; its content type must contain `json` or `javascript`.
  public func answer(from reply: HTTPReply, to question: AddressQuestion) throws(ProviderFailure) -> Answer {
    try reply.checkStatus()
    // Nearly all end with `json`; `contains` takes longer than reading all the rest of a reply.
    try reply.checkContentType { $0.hasSuffix("json") || $0.contains("json") || $0.contains("javascript") }
    return try DNSJSON.answer(from: reply.body, to: question, freshness: reply.freshness)
  }
}

extension JSONProvider: RecordProvider {
  /// The request that asks for records; the type is sent as a number, which every API accepts.
  public func request(for question: DNSQuestion, at secondsSince1970: Int64) -> HTTPMessage {
    let text = question.name.description
    let name = text == "." ? text : String(text.dropLast())
    return request(name: name, written: queryEscaped(name), type: "\(question.type.rawValue)", at: secondsSince1970)
  }

  /// Reads a reply; its content type must contain `json` or `javascript`.
  public func records(from reply: HTTPReply, to question: DNSQuestion) throws(ProviderFailure) -> RecordAnswer {
    try reply.checkStatus()
    try reply.checkContentType { $0.contains("json") || $0.contains("javascript") }
    return try RecordAnswer(json: reply.body, to: question, freshness: reply.freshness)
  }
}

extension RecordAnswer {
  /// Reads the reply format that the JSON APIs share, in which records' data is text.
  init(json body: [UInt8], to question: DNSQuestion, freshness: HTTPFreshness) throws(ProviderFailure) {
    guard let json = JSONValue(body), json.isObject else { throw .malformed("not a JSON object") }
    guard let status = json["Status"]?.integer.flatMap({ UInt16(exactly: $0) }), status < 4096 else {
      throw .malformed("no DNS status in the JSON")
    }
    guard json["TC"]?.isSet != true else { throw .malformed("a truncated reply") }
    // An object at AliDNS and an array elsewhere.
    let echoes = json["Question"].map { $0.isObject ? [$0] : $0.elements ?? [] } ?? []
    guard echoes.count == 1, let echo = echoes.first else {
      throw .malformed("a reply that does not repeat the question")
    }
    guard echo.dnsName == question.name, echo["type"]?.recordType == question.type else {
      throw .malformed("a reply to another question")
    }
    var answers: [ResourceRecord] = []
    for row in try json["Answer"]?.section() ?? [] { answers.append(try row.record(freshness)) }
    try self.init(
      to: question, responseCode: DNSMessage.ResponseCode(rawValue: status), answers: answers,
      authority: (json["Authority"]?.elements ?? []).compactMap { $0["type"]?.recordType },
      isAuthenticated: json["AD"]?.isTrue == true, explanation: json["Comment"]?.comment ?? "")
  }
}

extension JSONValue {
  /// The member `name` as a DNS name.
  fileprivate var dnsName: DNSName? { self["name"]?.spelled { DNSName(presentation: $0) } }

  /// A number at most APIs, a string or a mnemonic at some.
  fileprivate var recordType: DNSRecordType? {
    if let number = integer { return UInt16(exactly: number).map(DNSRecordType.init(rawValue:)) }
    return string.flatMap(DNSRecordType.init)
  }

  fileprivate func section() throws(ProviderFailure) -> [JSONValue] {
    guard let elements else { throw .malformed("a section that is not a list") }
    return elements
  }

  fileprivate func record(_ freshness: HTTPFreshness) throws(ProviderFailure) -> ResourceRecord {
    guard let owner = dnsName, let type = self["type"]?.recordType else {
      throw .malformed("a record without a name or a type")
    }
    guard let ttl = self["TTL"]?.integer else { throw .malformed("a record without a TTL") }
    guard let text = self["data"]?.string else { throw .malformed("a record of type \(type) without data") }
    let read = RecordData(text, type: type)
    // Addresses and CNAME chains are read from these types. For all others the text is kept: anybody may publish data
    // that cannot be read, and it says nothing about the provider.
    guard read != nil || ![.a, .aaaa, .cname].contains(type) else {
      throw ProviderFailure(.response, "a record of type \(type) whose data is invalid")
    }
    let data = read ?? .presentation(text)
    let lifetime = min(UInt32(clamping: max(0, ttl)), DNSRecord.lifetimeLimit)
    return ResourceRecord(owner: owner, type: type, ttl: freshness.lifetime(lifetime), data: data)
  }

  /// The text of a `Comment`, in parentheses: one string at Google, a list at Cloudflare.
  var comment: String {
    let texts = string.map { [$0] } ?? elements?.compactMap(\.string) ?? []
    return texts.isEmpty ? "" : " (" + texts.map { DirectDNSError.quoted($0) }.joined(separator: ", ") + ")"
  }
}
