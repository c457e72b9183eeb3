// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// A reply of Alibaba's EMAS HTTPDNS, from which the answer to each question is read.
struct EMASReply {
  enum Format {
    /// Version 1, of one name.
    case one
    /// Version 1, of several names.
    case list
    /// Version 2: always a list, even for one name.
    case second
  }

  private let format: Format
  /// One for each name; version 1 may have one for each family of it.
  private let entries: [JSONValue]
  private let freshness: HTTPFreshness

  private static let unasked = ProviderFailure.malformed("a reply that does not repeat the question")
  /// It names the host and does not speak of the family, or names no host at all: the account may not list the name.
  ///
  /// Taken for "no address", it would replace a known answer; and it comes from a server that works.
  private static let unanswered = ProviderFailure(.response, "a reply without the addresses that were asked for")

  init(_ reply: HTTPReply, _ format: Format) throws(ProviderFailure) {
    let body = try Self.body(of: reply)
    switch format {
    case .one: entries = [body]
    case .list:
      guard let list = body["dns"]?.elements else { throw Self.unasked }
      entries = list
    case .second:
      guard body["code"]?.string == "success", let list = body["data"]?["answers"]?.elements else {
        throw .malformed("a reply without code and answers")
      }
      entries = list
    }
    self.format = format
    freshness = reply.freshness
  }

  /// The vendor's own code, which comes with failures, and in version 2 with each reply.
  static func code(of reply: HTTPReply) -> String? { JSONValue(reply.body)?["code"]?.string }

  private static func body(of reply: HTTPReply) throws(ProviderFailure) -> JSONValue {
    if reply.status.code == 429 { try reply.checkStatus() }
    let value = JSONValue(reply.body)
    if let code = value?["code"]?.string, code != "success" { throw failure(code, reply) }
    try reply.checkStatus(ifRefused: "check the account, the secret and this machine's clock")
    guard let body = value, body.isObject else { throw .malformed("not a JSON object") }
    return body
  }

  /// The answer to a question.
  func answer(to question: AddressQuestion) throws(ProviderFailure) -> Answer {
    let nameKey = format == .second ? "dn" : "host"
    let own = entries.filter { $0[nameKey]?.spelled(as: DNSName.init(presentation:)) == question.message.name }
    guard let first = own.first else { throw entries.isEmpty ? Self.unanswered : Self.unasked }
    let key = question.family == .ipv4 ? "ips" : "ipsv6"
    switch format {
    case .one, .list:
      // An entry of a list has both families, or one of them and its type.
      let type = format == .list ? Int64(question.type.rawValue) : nil
      if let type, let entry = own.first(where: { $0["type"]?.integer == type && $0["ips"] != nil }) {
        return try answer(to: question, by: entry, "ips")
      }
      if let entry = own.first(where: { $0[key] != nil && (type == nil || key == "ipsv6" || $0["type"] == nil) }) {
        return try answer(to: question, by: entry, key)
      }
      // "No record" is an empty `ips`, also where IPv6 was asked for.
      guard let entry = own.first(where: { $0["type"] == nil && $0["ips"]?.elements?.isEmpty == true }) else {
        throw Self.unanswered
      }
      return try answer(to: question, by: entry, "ips")
    case .second:
      guard let family = first[question.family == .ipv4 ? "v4" : "v6"],
        family["ips"] != nil || family["no_ip_code"]?.string != nil
      else { throw Self.unanswered }
      return try answer(to: question, by: family, "ips")
    }
  }

  /// - Parameters:
  ///   - question: the question.
  ///   - entry: the object with the addresses and their TTL, or with the reason why there are none.
  ///   - key: the key of the addresses in it; missing means that there are none.
  /// - Returns: the answer.
  /// - Throws: why the entry is not an answer.
  private func answer(
    to question: AddressQuestion, by entry: JSONValue, _ key: String
  ) throws(ProviderFailure) -> Answer {
    var addresses: [IPAddress] = []
    if let value = entry[key] {
      guard let elements = value.elements else { throw .malformed("a reply whose \(key) is not a list") }
      for element in elements {
        guard let address = element.spelled(as: IPAddress.init(ascii:)), address.family == question.family else {
          throw .malformed("a reply whose \(key) holds what is not such an address")
        }
        addresses.keep(address)
      }
    }
    guard !addresses.isEmpty else {
      let isMissing = entry["no_ip_code"]?.string == "DomainNotExist"
      return Answer(
        .negative(isMissing ? .nameNotFound : .noAddress), ttl: DNSPodProvider.negativeLifetime)
    }
    guard let ttl = entry["ttl"]?.integer, ttl >= 0 else { throw .malformed("a reply without a TTL") }
    return Answer(
      .addresses(addresses), ttl: freshness.ttl(min(UInt32(clamping: ttl), DNSRecord.lifetimeLimit)))
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
