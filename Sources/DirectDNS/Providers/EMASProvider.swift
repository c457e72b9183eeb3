// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// Alibaba's EMAS HTTPDNS: version 1 (`/d`, `/sign_d`, `/resolve`, `/sign_resolve`) and version 2 (`/v2/d`), plain
/// and signed.
///
/// The encrypted form of version 2 (`m=1`, `m=2`) is not supported: use https.
public struct EMASProvider: NameableProvider, Hashable {
  private enum Form: Sendable, Hashable {
    /// Version 1: the account is in the path. `isBatch` means `/resolve`, whose replies are lists.
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
  /// The beginning of requests for several names, for which version 1 has a separate path.
  private let batchPrefix: String

  /// How long a signature is valid, in seconds; the same as in the vendor's own clients.
  private static let signatureLifetime: Int64 = 600

  /// Creates a provider; the URL's path chooses the form: `/ACCOUNT/d`, `/ACCOUNT/sign_d`, `/v2/d`, ….
  ///
  /// - Parameters:
  ///   - name: a short name.
  ///   - url: the endpoint with its path.
  ///   - credentials: the account (for version 2, if the URL has no `id=`) and the signing secret.
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
      throw Self.unusable(name, "EMAS's encrypted form (m=1, m=2, enc=) is not supported. Use emas+https://… instead.")
    }
    let path = url.path.split(separator: "/").map(String.init)
    switch (path.count, path.first, path.last) {
    case (2, "v2", "d"):
      guard
        let account = items.first(where: { $0.hasPrefix("id=") }).map({ String($0.dropFirst(3)) })
          ?? credentials.account
      else { throw Self.unusable(name, "EMAS version 2 needs an account: write …/v2/d?id=ACCOUNT.") }
      if let secret = credentials.secret, Signing.bytes(hex: secret.text) == nil {
        throw Self.unusable(name, "EMAS version 2 signs with a hexadecimal secret, and this one is not.")
      }
      let own = clientSubnet == nil ? Self.ownItems : Self.ownItems.union(["cip"])
      let kept = items.filter { !own.contains(Self.name(of: $0)) }
      form = .second(account: account, signed: kept.compactMap(Self.signedItem))
      secret = credentials.secret
      prefix = url.originText + url.path + "?" + kept.map { $0 + "&" }.joined()
      batchPrefix = prefix
    case (2, _, "d"), (2, _, "resolve"):
      form = .first(isBatch: path.last == "resolve")
      secret = nil
      prefix = url.queryPrefix
      batchPrefix = Self.batchPrefix(url, path[0] + "/resolve")
    case (2, _, "sign_d"), (2, _, "sign_resolve"):
      guard let given = credentials.secret else {
        throw Self.unusable(
          name, "/ACCOUNT/\(path[1]) signs its requests and needs a secret; without one use /ACCOUNT/d.")
      }
      form = .first(isBatch: path.last == "sign_resolve")
      secret = given
      prefix = url.queryPrefix
      batchPrefix = Self.batchPrefix(url, path[0] + "/sign_resolve")
    default:
      // Without the path itself: who mixes the forms up may have written a key in it.
      throw Self.unusable(
        name, "the URL's path is not a path of EMAS HTTPDNS. Write /ACCOUNT/d, /ACCOUNT/sign_d or /v2/d?id=ACCOUNT.")
    }
  }

  private static func batchPrefix(_ url: WebURL, _ path: String) -> String {
    url.originText + "/" + path + "?" + (url.query.map { $0.isEmpty ? "" : $0 + "&" } ?? "")
  }

  /// The query items that requests of version 2 set.
  private static let ownItems: Set = ["dn", "id", "m", "q", "v", "exp", "s"]

  private static func name(of item: String) -> String { String(item.prefix { $0 != "=" }) }

  /// An item of the URL that version 2 signs too, with its value decoded; nil for any other.
  private static func signedItem(_ item: String) -> SignedItem? {
    let name = name(of: item)
    guard name.hasPrefix("sdns-") || name == "tags" || name == "cip" else { return nil }
    return SignedItem(name: name, value: PercentEncoding.decodedText(item.dropFirst(name.count + 1)))
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
    let format: EMASReply.Format =
      switch form {
      case .first(let isBatch): isBatch ? .list : .one
      case .second: .second
      }
    return try EMASReply(reply, format).answer(to: question)
  }
}

extension EMASProvider: BatchProvider {
  /// Five, by the vendor's documentation.
  var batchLimit: Int { 5 }

  func refusesBatch(_ reply: HTTPReply) -> Bool { EMASReply.code(of: reply) == "TooManyHosts" }

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
    let format: EMASReply.Format = if case .first = form { .list } else { .second }
    let reply = try EMASReply(reply, format)
    var answers: [AddressQuestion: Result<Answer, ProviderFailure>] = [:]
    for question in questions {
      answers[question] = Result { () throws(ProviderFailure) in try reply.answer(to: question) }
    }
    return answers
  }
}
