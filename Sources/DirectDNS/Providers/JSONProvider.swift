internal import HTTPTypes

/// The JSON APIs of AliDNS, Google and Cloudflare, and all of their shape: `?name=&type=`.
public struct JSONProvider: Provider {
  /// What AliDNS wants to know of its customers.
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
  public let name: String
  /// The endpoint.
  public let url: WebURL
  /// Signs each request as AliDNS wants it; nothing means that requests are plain.
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
    var url = prefix + "name=" + host + (question.family == .ipv4 ? "&type=A" : "&type=AAAA")
    if let clientSubnet { url += "&" + queryText(["edns_client_subnet": clientSubnet.description]) }
    if let signature {
      let key = Signing.alidns(
        account: signature.account, keyID: signature.keyID, secret: signature.secret, time: secondsSince1970,
        name: host)
      url +=
        "&"
        + queryText([
          "uid": signature.account, "ak": signature.keyID, "ts": String(secondsSince1970), "key": key,
        ])
    }
    return HTTPMessage(url: url, fields: Self.fields)
  }

  private static let fields: HTTPFields = [.accept: "application/dns-json"]

  /// Reads a reply; the content type may be any that speaks of JSON or JavaScript.
  public func answer(from reply: HTTPReply, to question: AddressQuestion) throws(ProviderFailure) -> Answer {
    try reply.checkStatus()
    // Nearly all spell it `…json`; looking inside takes longer than all else that is read of a reply.
    try reply.checkContentType { $0.hasSuffix("json") || $0.contains("json") || $0.contains("javascript") }
    return try DNSJSON.answer(from: reply.body, to: question.message, freshness: reply.freshness)
  }
}

/// The reply format that the JSON APIs share; it has no RFC, and each spells some things its own way.
package enum DNSJSON {
  /// Reads the answer to a question out of a reply's body.
  package static func answer(
    from body: [UInt8], to question: DNSQuestion, freshness: HTTPFreshness = HTTPFreshness()
  ) throws(ProviderFailure) -> Answer {
    guard let reply = JSONValue(body), reply.isObject else { throw .malformed("not a JSON object") }
    // A missing status is no NOERROR: an error page in JSON has none either.
    guard let status = reply["Status"]?.integer.flatMap({ UInt16(exactly: $0) }), status < 4096 else {
      throw .malformed("no DNS status in the JSON")
    }
    guard reply["TC"] != .bool(true) else { throw .malformed("a truncated reply") }
    try check(reply["Question"], against: question)
    let code = DNSMessage.ResponseCode(rawValue: status)
    guard code == .noError || code == .nameError else {
      throw ProviderFailure(.response, "answered \(code)" + comment(reply["Comment"]))
    }
    return try AnswerSection.answer(
      to: question, responseCode: code, answers: try records(reply["Answer"]),
      authorities: try records(reply["Authority"]), freshness: freshness)
  }

  /// `Question` is an object at AliDNS and an array elsewhere.
  private static func check(_ echoed: JSONValue?, against question: DNSQuestion) throws(ProviderFailure) {
    guard let echoed, let only = echoed.isObject ? echoed : echoed.elements?.first,
      echoed.isObject || echoed.elements?.count == 1
    else { throw .malformed("a reply that does not repeat the question") }
    guard let name = only["name"]?.string.flatMap(DNSName.init), name == question.name,
      type(only["type"]) == question.type
    else { throw .malformed("a reply to another question") }
  }

  /// A number at most, a string or a mnemonic at some.
  private static func type(_ value: JSONValue?) -> DNSRecordType? {
    if let number = value?.integer { return UInt16(exactly: number).map(DNSRecordType.init(rawValue:)) }
    return value?.string.flatMap(DNSRecordType.init)
  }

  /// `Comment` is one string at Google and a list at Cloudflare.
  private static func comment(_ value: JSONValue?) -> String {
    let texts = value?.elements?.compactMap(\.string) ?? [value?.string].compactMap(\.self)
    return texts.isEmpty ? "" : " (" + texts.map { DirectDNSError.quoted($0) }.joined(separator: ", ") + ")"
  }

  private static func records(_ value: JSONValue?) throws(ProviderFailure) -> [DNSRecord] {
    guard let value else { return [] }
    guard let rows = value.elements else { throw .malformed("a section that is no list") }
    var records: [DNSRecord] = []
    for row in rows {
      guard let owner = row["name"]?.string.flatMap(DNSName.init), let type = type(row["type"]) else {
        throw .malformed("a record without a name or a type")
      }
      guard let data = try data(row["data"], type) else { continue }
      guard let ttl = row["TTL"]?.integer else { throw .malformed("a record without a TTL") }
      records.append(DNSRecord(owner: owner, type: type, ttl: UInt32(clamping: max(0, ttl)), data: data))
    }
    return records
  }

  /// The data of the types that this library reads; nothing for any other.
  private static func data(
    _ value: JSONValue?, _ type: DNSRecordType
  ) throws(ProviderFailure) -> DNSRecord.Data? {
    switch type {
    case .a, .aaaa:
      guard let address = value?.string.flatMap(IPAddress.init), DNSRecordType(address.family) == type else {
        throw .malformed("a record of type \(type) whose data is no such address")
      }
      return .address(address)
    case .cname:
      guard let name = value?.string.flatMap(DNSName.init) else { throw .malformed("a CNAME to no name") }
      return .canonicalName(name)
    case .soa:
      // mname rname serial refresh retry expire minimum
      let parts = (value?.string ?? "").split(separator: " ")
      guard parts.count == 7, let primary = DNSName(String(parts[0])), let serial = UInt32(parts[2]),
        let minimum = UInt32(parts[6])
      else { return nil }
      return .startOfAuthority(primary: primary, serial: serial, minimum: minimum)
    default: return nil
    }
  }
}
