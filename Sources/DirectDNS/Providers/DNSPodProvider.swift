// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// DNSPod's `/d`: addresses as text, plain, or with a token over https.
///
/// Its DES and AES forms are not supported: OpenSSL 3 no longer has single DES, and https with a token protects more.
public struct DNSPodProvider: NameableProvider, Hashable {
  /// A short name for logs, errors and metrics.
  public package(set) var name: String
  /// The endpoint.
  public let url: WebURL
  /// The client network that the provider is told, as an address; none by default.
  public let clientSubnet: IPNetwork?

  private let token: Secret?
  private let prefix: String

  /// Creates a provider.
  ///
  /// - Parameters:
  ///   - name: a short name.
  ///   - url: the endpoint.
  ///   - token: the token of the https form.
  ///   - clientSubnet: the network to tell; none by default.
  /// - Throws: an error of code ``DirectDNSError/Code/invalidConfiguration`` for a token without https, and for the
  ///   encrypted forms.
  public init(
    name: String, url: WebURL, token: Secret? = nil, clientSubnet: IPNetwork? = nil
  ) throws(DirectDNSError) {
    if token != nil, !url.scheme.isSecure {
      throw DirectDNSError(
        .invalidConfiguration,
        "Provider \(name): a DNSPod token goes over https only. Write dnspod+https://…, or leave the token out.")
    }
    if let query = url.query,
      query.split(separator: "&").contains(where: { $0.hasPrefix("alg=") || $0.hasPrefix("id=") })
    {
      throw DirectDNSError(
        .invalidConfiguration,
        "Provider \(name): DNSPod's encrypted forms (id=, alg=des, alg=aes) are not supported. Use dnspod+https://… with a token."
      )
    }
    self.name = name
    self.url = url
    self.token = token
    self.clientSubnet = clientSubnet
    prefix = url.queryPrefix
  }

  /// The request that asks a question.
  public func request(for question: AddressQuestion, at secondsSince1970: Int64) -> HTTPMessage {
    var url = prefix + "dn=" + question.host.text + "&ttl=1"
    if question.family == .ipv6 { url += "&type=aaaa" }
    if let clientSubnet { url += "&" + queryText(["ip": clientSubnet.address.description]) }
    if let token { url += "&" + queryText(["token": token.text]) }
    return HTTPMessage(url: url)
  }

  /// How many seconds "no record" is kept: a blocked name looks the same, so not for long.
  static let negativeLifetime: UInt32 = 5

  /// Reads a reply: `ADDRESS;ADDRESS,TTL`, or nothing if there is no record.
  ///
  /// The content type says nothing here (these servers send text/html), so the grammar alone decides.
  public func answer(from reply: HTTPReply, to question: AddressQuestion) throws(ProviderFailure) -> Answer {
    try reply.checkStatus(ifRefused: token == nil ? nil : "check the token")
    // "No record" is 200 with an empty body; 202 and 204 have one too, and say nothing about the name.
    guard reply.status.code == 200 else { throw .malformed("HTTP \(reply.status.code)") }
    guard reply.body.allSatisfy({ $0 < 0x80 }) else { throw .malformed("not a reply of DNSPod's: not ASCII") }
    let line = reply.body.trimming { ASCII.isBlankOrReturn($0) || $0 == ASCII.newline }
    var text = String(decoding: line, as: UTF8.self)
    if let tail = text.firstIndex(of: "|") { text = String(text[..<tail]) }  // the client's address
    if let range = text.firstRange(of: ".:") {  // `name.:` where the server repeats the question
      guard DNSName(String(text[..<range.lowerBound])) == question.message.name else {
        throw .malformed("a reply to another question")
      }
      text = String(text[range.upperBound...])
    }
    guard !text.isEmpty, text != "0" else {
      return Answer(.negative(.noAddress), ttl: Self.negativeLifetime)
    }
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count <= 2 else { throw .malformed("not a reply of DNSPod's") }
    var addresses: [IPAddress] = []
    for part in parts[0].split(separator: ";", omittingEmptySubsequences: false) {
      guard let address = IPAddress(String(part)), address.family == question.family else {
        throw .malformed("not a reply of DNSPod's: \(DirectDNSError.quoted(part)) is not an address of that family")
      }
      addresses.keep(address)
    }
    guard parts.count == 2, let ttl = UInt32(parts[1]) else { throw .malformed("a reply without a TTL") }
    return Answer(
      .addresses(addresses), ttl: reply.freshness.ttl(min(ttl, DNSRecord.lifetimeLimit)))
  }
}
