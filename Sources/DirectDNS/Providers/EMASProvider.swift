internal import HTTPTypes

/// Alibaba's EMAS HTTPDNS: version 1 (`/d`, `/sign_d`, `/resolve`, `/sign_resolve`) and version 2 (`/v2/d`), plain
/// and signed.
///
/// The encrypted form of version 2 (`m=1`, `m=2`) is not spoken: use https.
public struct EMASProvider: Provider {
  private enum Form: Sendable, Hashable {
    /// Version 1: the account stands in the path. `isBatch` is `/resolve`, whose replies are lists.
    case first(isBatch: Bool)
    /// `signed` are items of the URL's own query that the signature covers.
    case second(account: String, signed: [SignedItem])
  }

  private struct SignedItem: Sendable, Hashable {
    var name: String
    var value: String
  }

  /// A short name for logs, errors and metrics.
  public let name: String
  /// The endpoint, path included.
  public let url: WebURL
  /// The client network that the provider is told, as an address; none by default.
  public let clientSubnet: IPNetwork?

  private let form: Form
  private let secret: Secret?
  private let prefix: String

  /// For how long a signature holds, in seconds, as the vendor's own clients have it.
  static let signatureLifetime: Int64 = 600

  /// Creates a provider; the URL's path chooses the form: `/ACCOUNT/d`, `/ACCOUNT/sign_d`, `/v2/d`, ….
  ///
  /// - Parameters:
  ///   - name: a short name.
  ///   - url: the endpoint with its path.
  ///   - credentials: the account (for version 2, where the URL has no `id=`) and the signing secret.
  ///   - clientSubnet: the network to tell; none by default.
  /// - Throws: an error of code ``DirectDNSError/Code/invalidConfiguration`` for a path that is none of these, a
  ///   signed form without a secret, and the encrypted form.
  public init(
    name: String, url: WebURL, credentials: ProviderCredentials = ProviderCredentials(),
    clientSubnet: IPNetwork? = nil
  ) throws(DirectDNSError) {
    self.name = name
    self.url = url
    self.clientSubnet = clientSubnet
    let items = (url.query ?? "").split(separator: "&").map(String.init)
    if items.contains(where: { $0.hasPrefix("enc=") || $0 == "m=1" || $0 == "m=2" }) {
      throw Self.unusable(name, "EMAS's encrypted form (m=1, m=2, enc=) is not spoken. Use emas+https://… instead.")
    }
    let path = url.path.split(separator: "/").map(String.init)
    switch (path.count, path.first, path.last) {
    case (2, "v2", "d"):
      guard
        let account = items.first(where: { $0.hasPrefix("id=") }).map({ String($0.dropFirst(3)) })
          ?? credentials.account
      else { throw Self.unusable(name, "EMAS version 2 needs an account: write …/v2/d?id=ACCOUNT.") }
      if let secret = credentials.secret, Signing.bytes(hex: secret.text) == nil {
        throw Self.unusable(name, "EMAS version 2 signs with a hexadecimal secret, and this one is none.")
      }
      let own = clientSubnet == nil ? Self.ownItems : Self.ownItems.union(["cip"])
      let kept = items.filter { !own.contains(Self.name(of: $0)) }
      form = .second(account: account, signed: kept.compactMap(Self.signedItem))
      secret = credentials.secret
      prefix = url.requestText.prefixBeforeQuery + "?" + kept.map { $0 + "&" }.joined()
    case (2, _, "d"), (2, _, "resolve"):
      form = .first(isBatch: path.last == "resolve")
      secret = nil
      prefix = url.queryPrefix
    case (2, _, "sign_d"), (2, _, "sign_resolve"):
      guard let given = credentials.secret else {
        throw Self.unusable(name, "\(url.path) signs its requests and needs a secret; without one use /ACCOUNT/d.")
      }
      form = .first(isBatch: path.last == "sign_resolve")
      secret = given
      prefix = url.queryPrefix
    default:
      throw Self.unusable(
        name, "\(url.path) is no path of EMAS HTTPDNS. Write /ACCOUNT/d, /ACCOUNT/sign_d or /v2/d?id=ACCOUNT.")
    }
  }

  /// What version 2's requests say themselves.
  private static let ownItems: Set = ["dn", "id", "m", "q", "v", "exp", "s"]

  private static func name(of item: String) -> String { String(item.prefix { $0 != "=" }) }

  /// An item that version 2 signs besides its own, by its un-encoded value.
  private static func signedItem(_ item: String) -> SignedItem? {
    let name = name(of: item)
    guard name.hasPrefix("sdns-") || name == "tags" || name == "cip" else { return nil }
    let value = PercentEncoding.decoded(Array(item.utf8.dropFirst(name.utf8.count + 1)).span)
    return SignedItem(name: name, value: String(decoding: value, as: UTF8.self))
  }

  private static func unusable(_ name: String, _ reason: String) -> DirectDNSError {
    DirectDNSError(.invalidConfiguration, "Provider \(name): \(reason)")
  }

  /// The request that asks a question.
  public func request(for question: AddressQuestion, at secondsSince1970: Int64) -> HTTPMessage {
    let host = question.host.text
    let query = question.family == .ipv4 ? "4" : "6"
    let expiry = secondsSince1970 + Self.signatureLifetime
    let subnet = clientSubnet?.address.description ?? ""
    switch form {
    case .first:
      var url = prefix + "host=" + host + "&query=" + query
      if !subnet.isEmpty { url += "&" + queryText(["ip": subnet]) }
      if let secret { url += "&t=\(expiry)&s=" + Signing.emas1(host: host, secret: secret, expiry: expiry) }
      return HTTPMessage(url: url)
    case .second(let account, let signed):
      var items = [("dn", host), ("id", account), ("m", "0"), ("q", query), ("v", "1.0")]
      if !subnet.isEmpty { items.append(("cip", subnet)) }
      if let secret {
        items.append(("exp", String(expiry)))
        let all = items + signed.map { ($0.name, $0.value) }
        items.append(("s", Signing.emas2(items: all, secret: secret) ?? ""))
      }
      return HTTPMessage(url: prefix + items.map { $0.0 + "=" + queryEscaped($0.1) }.joined(separator: "&"))
    }
  }

  /// Reads a reply.
  public func answer(from reply: HTTPReply, to question: AddressQuestion) throws(ProviderFailure) -> Answer {
    if reply.status.code == 429 { try reply.checkStatus() }
    let value = JSONValue(reply.body)
    if let code = value?["code"]?.string, code != "success" { throw Self.failure(code, reply) }
    try reply.checkStatus()
    guard let body = value, body.isObject else { throw .malformed("not a JSON object") }
    let answer: Answer
    switch form {
    case .first(let isBatch):
      let entry = isBatch ? body["dns"]?.elements?.first { Self.name($0["host"]) == question.message.name } : body
      guard let entry, Self.name(entry["host"]) == question.message.name else {
        throw .malformed("a reply that does not repeat the question")
      }
      // `/resolve` tells the type instead of using another key.
      let isTyped = isBatch && question.family == .ipv6 && entry["type"]?.integer == 28
      answer = try Self.answer(
        entry, key: question.family == .ipv4 || isTyped ? "ips" : "ipsv6", question: question,
        freshness: reply.freshness)
    case .second:
      guard body["code"]?.string == "success", let entries = body["data"]?["answers"]?.elements else {
        throw .malformed("a reply without code and answers")
      }
      guard let entry = entries.first(where: { Self.name($0["dn"]) == question.message.name }) else {
        throw .malformed("a reply that does not repeat the question")
      }
      guard let family = entry[question.family == .ipv4 ? "v4" : "v6"] else {
        return Answer(.negative(.noAddress), ttl: DNSPodProvider.negativeLifetime)
      }
      answer = try Self.answer(family, key: "ips", question: question, freshness: reply.freshness)
    }
    return answer
  }

  private static func name(_ value: JSONValue?) -> DNSName? { value?.string.flatMap(DNSName.init) }

  private static func answer(
    _ entry: JSONValue, key: String, question: AddressQuestion, freshness: HTTPFreshness
  ) throws(ProviderFailure) -> Answer {
    var addresses: [IPAddress] = []
    for element in entry[key]?.elements ?? [] {
      guard let address = element.string.flatMap(IPAddress.init), address.family == question.family else {
        throw .malformed("a reply whose \(key) holds what is no such address")
      }
      if addresses.count < Answer.addressLimit, !addresses.contains(address) { addresses.append(address) }
    }
    guard !addresses.isEmpty else {
      let isMissing = entry["no_ip_code"]?.string == "DomainNotExist"
      return Answer(
        .negative(isMissing ? .nameNotFound : .noAddress), ttl: DNSPodProvider.negativeLifetime)
    }
    guard let ttl = entry["ttl"]?.integer, ttl >= 0 else { throw .malformed("a reply without a TTL") }
    return Answer(
      .addresses(addresses), ttl: freshness.lifetime(min(UInt32(clamping: ttl), DNSRecord.lifetimeLimit)))
  }

  /// EMAS's own error codes, which come with HTTP 403 mostly, and what to do about each.
  private static func failure(_ code: String, _ reply: HTTPReply) -> ProviderFailure {
    let advice =
      switch code {
      case "UnsignedInterfaceDisabled": "this account must sign: use /ACCOUNT/sign_d with a secret"
      case "InvalidAccount", "AccountNotExists": "check the account id"
      case "SignatureExpired", "InvalidDuration": "check this machine's clock"
      case "InvalidSignature": "check the secret"
      case "InvalidHost": "the name is not one that it resolves"
      case "ServiceLevelDeny": "this node does not serve the account's tier: use another address"
      default: "see the vendor's list of codes"
      }
    let isOutage = reply.status.code >= 500 || code == "ServiceLevelDeny"
    return ProviderFailure(isOutage ? .transport : .response, "answered \(DirectDNSError.quoted(code)): \(advice)")
  }
}

extension String {
  /// The URL's text up to its query.
  fileprivate var prefixBeforeQuery: String { firstIndex(of: "?").map { String(self[..<$0]) } ?? self }
}
