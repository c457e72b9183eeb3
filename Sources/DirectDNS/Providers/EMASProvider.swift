// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// Alibaba's EMAS HTTPDNS: version 1 (`/d`, `/sign_d`, `/resolve`, `/sign_resolve`) and version 2 (`/v2/d`), plain
/// and signed.
///
/// The encrypted form of version 2 (`m=1`, `m=2`) is not spoken: use https.
public struct EMASProvider: NameableProvider {
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
  public package(set) var name: String
  /// The endpoint, path included.
  public let url: WebURL
  /// The client network that the provider is told, as an address; none by default.
  public let clientSubnet: IPNetwork?

  private let form: Form
  private let secret: Secret?
  private let prefix: String
  /// What the requests for several names begin with: version 1 has a path of its own for them.
  private let batchPrefix: String

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
      batchPrefix = prefix
    case (2, _, "d"), (2, _, "resolve"):
      form = .first(isBatch: path.last == "resolve")
      secret = nil
      prefix = url.queryPrefix
      batchPrefix = Self.batchPrefix(url, path[0] + "/resolve")
    case (2, _, "sign_d"), (2, _, "sign_resolve"):
      guard let given = credentials.secret else {
        throw Self.unusable(name, "\(url.path) signs its requests and needs a secret; without one use /ACCOUNT/d.")
      }
      form = .first(isBatch: path.last == "sign_resolve")
      secret = given
      prefix = url.queryPrefix
      batchPrefix = Self.batchPrefix(url, path[0] + "/sign_resolve")
    default:
      throw Self.unusable(
        name, "\(url.path) is no path of EMAS HTTPDNS. Write /ACCOUNT/d, /ACCOUNT/sign_d or /v2/d?id=ACCOUNT.")
    }
  }

  private static func batchPrefix(_ url: WebURL, _ path: String) -> String {
    url.originText + "/" + path + "?" + (url.query.map { $0.isEmpty ? "" : $0 + "&" } ?? "")
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
    message(prefix, host: question.host.text, query: question.family == .ipv4 ? "4" : "6", at: secondsSince1970)
  }

  private func message(_ prefix: String, host: String, query: String, at secondsSince1970: Int64) -> HTTPMessage {
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
    let body = try Self.body(of: reply)
    switch form {
    case .first(let isBatch):
      return try isBatch
        ? Self.listed(question, in: Self.list(body), reply.freshness)
        : Self.alone(question, body, reply.freshness)
    case .second: return try Self.second(question, in: Self.secondList(body), reply.freshness)
    }
  }

  private static func body(of reply: HTTPReply) throws(ProviderFailure) -> JSONValue {
    if reply.status.code == 429 { try reply.checkStatus() }
    let value = JSONValue(reply.body)
    if let code = value?["code"]?.string, code != "success" { throw failure(code, reply) }
    try reply.checkStatus()
    guard let body = value, body.isObject else { throw .malformed("not a JSON object") }
    return body
  }

  private static let unasked = ProviderFailure.malformed("a reply that does not repeat the question")

  /// Version 1's reply for one name.
  private static func alone(
    _ question: AddressQuestion, _ body: JSONValue, _ freshness: HTTPFreshness
  ) throws(ProviderFailure) -> Answer {
    guard name(body["host"]) == question.message.name else { throw unasked }
    return try answer(
      body, key: question.family == .ipv4 ? "ips" : "ipsv6", question: question, freshness: freshness)
  }

  private static func list(_ body: JSONValue) throws(ProviderFailure) -> [JSONValue] {
    guard let list = body["dns"]?.elements else { throw unasked }
    return list
  }

  /// Version 1's reply for several names: an entry has both families, or one of them and its type.
  private static func listed(
    _ question: AddressQuestion, in list: [JSONValue], _ freshness: HTTPFreshness
  ) throws(ProviderFailure) -> Answer {
    let own = list.filter { name($0["host"]) == question.message.name }
    guard let first = own.first else { throw unasked }
    let type = Int64(question.type.rawValue)
    if let entry = own.first(where: { $0["type"]?.integer == type && $0["ips"] != nil }) {
      return try answer(entry, key: "ips", question: question, freshness: freshness)
    }
    let key = question.family == .ipv4 ? "ips" : "ipsv6"
    let entry = own.first { $0[key] != nil && (key == "ipsv6" || $0["type"] == nil) }
    return try answer(entry ?? first, key: entry == nil ? "none" : key, question: question, freshness: freshness)
  }

  private static func secondList(_ body: JSONValue) throws(ProviderFailure) -> [JSONValue] {
    guard body["code"]?.string == "success", let list = body["data"]?["answers"]?.elements else {
      throw .malformed("a reply without code and answers")
    }
    return list
  }

  /// Version 2's reply, which is a list for one name too.
  private static func second(
    _ question: AddressQuestion, in list: [JSONValue], _ freshness: HTTPFreshness
  ) throws(ProviderFailure) -> Answer {
    guard let entry = list.first(where: { name($0["dn"]) == question.message.name }) else { throw unasked }
    guard let family = entry[question.family == .ipv4 ? "v4" : "v6"] else {
      return Answer(.negative(.noAddress), ttl: DNSPodProvider.negativeLifetime)
    }
    return try answer(family, key: "ips", question: question, freshness: freshness)
  }

  private static func name(_ value: JSONValue?) -> DNSName? { value?.spelled(as: DNSName.init(presentation:)) }

  private static func answer(
    _ entry: JSONValue, key: String, question: AddressQuestion, freshness: HTTPFreshness
  ) throws(ProviderFailure) -> Answer {
    var addresses: [IPAddress] = []
    for element in entry[key]?.elements ?? [] {
      guard let address = element.spelled(as: IPAddress.init(ascii:)), address.family == question.family else {
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

extension EMASProvider: BatchProvider {
  /// Five, by the vendor's documentation.
  var batchLimit: Int { 5 }

  func request(for questions: [AddressQuestion], at secondsSince1970: Int64) -> HTTPMessage {
    var hosts: [String] = []
    for question in questions where !hosts.contains(question.host.text) { hosts.append(question.host.text) }
    let families = IPAddress.Family.allCases.filter { family in questions.contains { $0.family == family } }
    return message(
      batchPrefix, host: hosts.joined(separator: ","),
      query: families.map { $0 == .ipv4 ? "4" : "6" }.sorted().joined(separator: ","), at: secondsSince1970)
  }

  func answers(
    from reply: HTTPReply, to questions: [AddressQuestion]
  ) throws(ProviderFailure) -> [AddressQuestion: Result<Answer, ProviderFailure>] {
    let body = try Self.body(of: reply)
    let isFirst = if case .first = form { true } else { false }
    let list = try isFirst ? Self.list(body) : Self.secondList(body)
    var answers: [AddressQuestion: Result<Answer, ProviderFailure>] = [:]
    for question in questions {
      do throws(ProviderFailure) {
        answers[question] = .success(
          try isFirst
            ? Self.listed(question, in: list, reply.freshness) : Self.second(question, in: list, reply.freshness))
      } catch {
        answers[question] = .failure(error)
      }
    }
    return answers
  }
}
