// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Alibaba's EMAS HTTPDNS, version 2: `/v2/d`, plain or encrypted, signed with HMAC.
struct EMASv2Format: ProviderFormat {
  /// The parameters of a request, both encrypted ones and those of the query.
  private struct Parameters {
    var query: [QueryItem]
    var hidden: [String: String] = [:]

    subscript(name: String) -> String? {
      hidden[name] ?? query.first { $0.name == name }?.value
    }
  }

  func questions(
    in request: RecordedRequest, configuration: FakeProviderConfiguration
  ) -> [DNSQuestion] {
    guard let parameters = parameters(of: request, account: configuration.emasAccount),
      let names = DNSName.list(parameters["dn"] ?? "")
    else { return [] }
    let types = EMASFamily.types(parameters["q"]) ?? [.a]
    return names.flatMap { name in types.map { DNSQuestion(name: name, type: $0) } }
  }

  func reply(to request: RecordedRequest, in context: AnswerContext) -> ProviderReply {
    if let error = context.distortion.vendorError { return failure(error.code, error.status ?? 200) }
    guard request.method == .get else { return failure("MethodNotAllowed", 405) }
    if let code = refusal(of: request, in: context) { return failure(code) }
    let account = context.configuration.emasAccount
    guard let parameters = parameters(of: request, account: account) else {
      return failure("DecryptionFailed")
    }
    guard let list = parameters["dn"] else { return failure("MissingArgument") }
    guard let names = DNSName.list(list) else { return failure("InvalidHost") }
    guard names.count <= 5 else { return failure("TooManyHosts") }
    guard let types = EMASFamily.types(parameters["q"]) else { return failure("InvalidArgument") }
    let data = JSONText.object([
      ("cip", .string(parameters["cip"] ?? request.client)),
      ("answers", .array(names.map { answer($0, types, context) })),
    ])
    guard let mode = mode(of: request) else { return success(0, data) }
    guard let key = account?.aesKey.flatMap({ Hex.decoded($0.utf8) }),
      let sealed = try? ProviderCipher.seal(Array(data.text.utf8), mode: mode, key: key)
    else { return failure("DecryptionFailed") }
    return success(mode.rawValue, .string(Base64.encoded(sealed)))
  }

  private func refusal(of request: RecordedRequest, in context: AnswerContext) -> String? {
    guard !context.distortion.refusesCredentials else { return "InvalidSignature" }
    guard let account = context.configuration.emasAccount else { return nil }
    guard let id = request.value("id") else { return "MissingArgument" }
    guard id == account.id else { return "AccountNotExists" }
    guard let signature = request.value("s") else {
      return account.requiresSignature ? "UnsignedInterfaceDisabled" : nil
    }
    guard let expiry = request.value("exp").flatMap(Int64.init) else { return "MissingArgument" }
    guard expiry >= context.now else { return "SignatureExpired" }
    return signature == ProviderSignature.emasV2(request.query, secret: account.secret)
      ? nil : "InvalidSignature"
  }

  private func answer(_ name: DNSName, _ types: [DNSRecordType], _ context: AnswerContext) -> JSONText {
    var members: [(String, JSONText)] = [("dn", .string(context.echoed(name).text))]
    for type in types {
      let family = EMASFamily(name, type, in: context)
      var part: [(String, JSONText)] = []
      if let code = context.distortion.noAddressCode {
        part = [("ips", .array([])), ("ttl", .number(family.ttl)), ("no_ip_code", .string(code))]
      } else {
        part = [("ips", family.list), ("ttl", .number(family.ttl))] + EMASFamily.extra(in: context)
        if family.addresses.isEmpty {
          let code = family.responseCode == .nameError ? "DomainNotExist" : "RRNotExist"
          part.append(("no_ip_code", .string(code)))
        }
      }
      members.append((type == .a ? "v4" : "v6", .object(part)))
    }
    return .object(members)
  }

  private func mode(of request: RecordedRequest) -> ProviderCipher.Mode? {
    request.value("m").flatMap(Int.init).flatMap(ProviderCipher.Mode.init(rawValue:))
  }

  /// The parameters, decrypted if the mode says so; nil if that fails.
  private func parameters(of request: RecordedRequest, account: EMASAccount?) -> Parameters? {
    guard let mode = mode(of: request) else { return Parameters(query: request.query) }
    guard let key = account?.aesKey.flatMap({ Hex.decoded($0.utf8) }),
      let sealed = request.value("enc").flatMap({ Hex.decoded($0.utf8) }),
      let plain = try? ProviderCipher.open(sealed, mode: mode, key: key),
      let hidden = try? JSONDecoder().decode([String: String].self, from: Data(plain))
    else { return nil }
    return Parameters(query: request.query, hidden: hidden)
  }

  private func success(_ mode: Int, _ data: JSONText) -> ProviderReply {
    ProviderReply(
      json: .object([("code", .string("success")), ("mode", .number(mode)), ("data", data)]))
  }

  private func failure(_ code: String, _ status: Int = 200) -> ProviderReply {
    ProviderReply(status: status, json: .object([("code", .string(code))]))
  }
}
