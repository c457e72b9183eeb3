// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// The JSON APIs of AliDNS, Google and Cloudflare, and all of their shape: `?name=&type=`.
public struct JSONProvider: NameableProvider {
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
  public package(set) var name: String
  /// The endpoint.
  public let url: WebURL
  /// Signs each request as AliDNS wants it; nil means that requests are plain.
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
    var url = prefix
    url.reserveCapacity(prefix.utf8.count + host.utf8.count + 16)
    url += "name="
    url += host
    url += question.family == .ipv4 ? "&type=A" : "&type=AAAA"
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
    var message = Self.message
    message.url = url
    return message
  }

  /// What all requests have in common.
  private static let message = HTTPMessage(url: "", fields: [.accept: "application/dns-json"])

  /// Reads a reply; the content type may be any that speaks of JSON or JavaScript.
  public func answer(from reply: HTTPReply, to question: AddressQuestion) throws(ProviderFailure) -> Answer {
    try reply.checkStatus()
    // Nearly all spell it `…json`; looking inside takes longer than all else that is read of a reply.
    try reply.checkContentType { $0.hasSuffix("json") || $0.contains("json") || $0.contains("javascript") }
    return try DNSJSON.answer(from: reply.body, to: question, freshness: reply.freshness)
  }
}
