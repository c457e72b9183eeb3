// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import HTTPTypes

/// Alibaba's EMAS HTTPDNS, version 1: `/{account}/d`, `sign_d`, `resolve` and `sign_resolve`.
struct EMASFormat: ProviderFormat {
  /// The last part of the path.
  enum Verb: String, Sendable {
    case one = "d"
    case signedOne = "sign_d"
    case many = "resolve"
    case signedMany = "sign_resolve"
  }

  let verb: Verb

  private var isSigned: Bool { verb == .signedOne || verb == .signedMany }
  private var takesMany: Bool { verb == .many || verb == .signedMany }

  /// `t` may be so many seconds ahead; the documentation says only that it may not be too far.
  private static let longestDuration: Int64 = 86_400

  func questions(
    in request: RecordedRequest, configuration: FakeProviderConfiguration
  ) -> [DNSQuestion] {
    guard let names = DNSName.list(request.value("host") ?? "") else { return [] }
    let types = EMASFamily.types(request.value("query")) ?? [.a]
    return names.flatMap { name in types.map { DNSQuestion(name: name, type: $0) } }
  }

  func reply(to request: RecordedRequest, in context: AnswerContext) -> ProviderReply {
    if let error = context.distortion.vendorError { return failure(error.code, error.status ?? 403) }
    guard request.method == .get else { return failure("MethodNotAllowed", 405) }
    guard let hosts = request.value("host") else { return failure("MissingArgument", 400) }
    if let refusal = refusal(of: request, hosts: hosts, in: context) { return refusal }
    guard let names = DNSName.list(hosts), takesMany || names.count == 1 else {
      return failure("InvalidHost", 403)
    }
    guard names.count <= 5 else { return failure("TooManyHosts", 400) }
    guard let types = EMASFamily.types(request.value("query")) else { return failure("InvalidQuery", 400) }
    let client = request.value("ip") ?? request.client
    guard takesMany else {
      return ProviderReply(json: one(names[0], types, client, context))
    }
    return ProviderReply(json: .object([("dns", .array(many(names, types, client, context)))]))
  }

  /// Why the account or the signature is refused, checked in the order of the real servers.
  private func refusal(
    of request: RecordedRequest, hosts: String, in context: AnswerContext
  ) -> ProviderReply? {
    guard !context.distortion.refusesCredentials else { return failure("InvalidSignature", 403) }
    guard isSigned else {
      guard let account = context.configuration.emasAccount else { return nil }
      return accountRefusal(request, account)
        ?? (account.requiresSignature ? failure("UnsignedInterfaceDisabled", 403) : nil)
    }
    guard let expiry = request.value("t"), let signature = request.value("s") else {
      return failure("MissingArgument", 400)
    }
    guard let account = context.configuration.emasAccount else { return nil }
    if let refusal = accountRefusal(request, account) { return refusal }
    guard let seconds = Int64(expiry) else { return failure("InvalidSignature", 403) }
    guard seconds >= context.now else { return failure("SignatureExpired", 403) }
    guard seconds - context.now <= Self.longestDuration else { return failure("InvalidDuration", 403) }
    let expected = ProviderSignature.emas(hosts: hosts, secret: account.secret, expiry: expiry)
    return signature == expected ? nil : failure("InvalidSignature", 403)
  }

  private func accountRefusal(_ request: RecordedRequest, _ account: EMASAccount) -> ProviderReply? {
    let id = request.path.split(separator: "/").first.map(String.init) ?? ""
    guard !id.isEmpty, id.utf8.allSatisfy({ (48...57).contains($0) }) else {
      return failure("InvalidAccount", 403)
    }
    return id == account.id ? nil : failure("AccountNotExists", 403)
  }

  private func failure(_ code: String, _ status: Int) -> ProviderReply {
    ProviderReply(status: status, json: .object([("code", .string(code))]))
  }

  /// The reply of `/d`: both families in one object, under the smaller TTL.
  private func one(
    _ name: DNSName, _ types: [DNSRecordType], _ client: String, _ context: AnswerContext
  ) -> JSONText {
    let families = types.map { EMASFamily(name, $0, in: context) }
    var members: [(String, JSONText)] = [("host", .string(context.echoed(name).text))]
    for family in families { members.append((family.type == .a ? "ips" : "ipsv6", family.list)) }
    return .object(members + ending(families.map(\.ttl).min() ?? 60, client, context))
  }

  /// The reply of `/resolve`: one object for each name and family.
  private func many(
    _ names: [DNSName], _ types: [DNSRecordType], _ client: String, _ context: AnswerContext
  ) -> [JSONText] {
    names.flatMap { name in
      types.map { type in
        let family = EMASFamily(name, type, in: context)
        let members: [(String, JSONText)] = [
          ("host", .string(context.echoed(name).text)), ("type", .number(Int(type.rawValue))),
          ("ips", family.list),
        ]
        return .object(members + ending(family.ttl, client, context))
      }
    }
  }

  private func ending(_ ttl: Int, _ client: String, _ context: AnswerContext) -> [(String, JSONText)] {
    EMASFamily.extra(in: context) + [
      ("ttl", .number(ttl)), ("origin_ttl", .number(ttl)), ("client_ip", .string(client)),
    ]
  }
}
