// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import HTTPTypes

/// DNSPod's text API at `/d`: unencrypted with a token, or with AES.
struct DNSPodFormat: ProviderFormat {
  func questions(
    in request: RecordedRequest, configuration: FakeProviderConfiguration
  ) -> [DNSQuestion] {
    let key = configuration.dnspodAccount?.aesKey
    guard let names = plain(request.value("dn"), of: request, key: key).flatMap(Self.names) else { return [] }
    let types = types(of: request) ?? [.a]
    return names.flatMap { name in types.map { DNSQuestion(name: name, type: $0) } }
  }

  func reply(to request: RecordedRequest, in context: AnswerContext) -> ProviderReply {
    guard request.method == .get || request.method == .post else { return .refusal(501, "") }
    let account = context.configuration.dnspodAccount
    // With a wrong key the real servers only send an unreadable body, with status 200.
    guard !context.distortion.refusesCredentials else { return text("c9b9f4b2e55a1f6d03a7e1c2b4d58e90") }
    if let account {
      let isKnown =
        isEncrypted(request) ? request.value("id") == account.id : request.value("token") == account.token
      guard isKnown else { return .refusal(401, "") }
    }
    guard let dn = plain(request.value("dn"), of: request, key: account?.aesKey) else { return text("") }
    guard let names = Self.names(dn), let types = types(of: request) else { return .refusal(400, "") }
    let body = write(names, types, request, context)
    guard isEncrypted(request), let key = account?.aesKey else { return text(body) }
    let sealed = try? ProviderCipher.seal(Array(body.utf8), mode: .cbc, key: Array(key.utf8))
    return text(sealed.map(Hex.encoded) ?? "")
  }

  private func write(
    _ names: [DNSName], _ types: [DNSRecordType], _ request: RecordedRequest, _ context: AnswerContext
  ) -> String {
    let showsNames = request.value("query") == "1" || names.count > 1
    let showsTTL = request.value("ttl") == "1"
    let tail = request.value("clientip") == "1" ? "|\(request.value("ip") ?? request.client)" : ""
    var lines = names.map { name in
      let parts = types.map { type in
        family(context.lookup(DNSQuestion(name: name, type: type)), type, showsTTL: showsTTL)
      }
      let addresses = parts.map { $0 ?? "0" }.joined(separator: "-")
      let isBare = !showsNames && types == [.a] && tail.isEmpty
      if isBare { return parts.first.flatMap { $0 } ?? "" }
      return showsNames ? "\(context.echoed(name)):\(addresses)" : addresses
    }
    // A poisoned record has another name, so it can only be shown where names are written.
    let poison = context.lookup(DNSQuestion(name: Distortion.poisonedName, type: types.first ?? .a))
      .answers.filter { $0.owner == Distortion.poisonedName && showsNames }
    lines.insert(contentsOf: poison.prefix(1).map { "\($0.owner):\($0.presentation)" }, at: 0)
    return lines.joined(separator: "\n") + tail
  }

  /// `2.3.3.4;2.3.3.5,120`; nil without an address.
  private func family(_ lookup: RecordTable.Lookup, _ type: DNSRecordType, showsTTL: Bool) -> String? {
    let records = lookup.answers.filter { $0.type == type && $0.owner != Distortion.poisonedName }
    guard !records.isEmpty else { return nil }
    let addresses = records.map(\.presentation).joined(separator: ";")
    return showsTTL ? "\(addresses),\(lookup.lifetime ?? 0)" : addresses
  }

  private func types(of request: RecordedRequest) -> [DNSRecordType]? {
    switch request.value("type")?.lowercased() {
    case nil, "a": [.a]
    case "aaaa": [.aaaa]
    case "addrs": [.a, .aaaa]
    default: nil
    }
  }

  private static func names(_ dn: String) -> [DNSName]? {
    // The newest SDKs append `;expiry` before they encrypt.
    DNSName.list(String(dn.prefix { $0 != ";" }))
  }

  private func isEncrypted(_ request: RecordedRequest) -> Bool { request.value("alg") == "aes" }

  private func plain(_ text: String?, of request: RecordedRequest, key: String?) -> String? {
    guard let text, isEncrypted(request) else { return text }
    guard let key, let bytes = Hex.decoded(text.utf8),
      let opened = try? ProviderCipher.open(bytes, mode: .cbc, key: Array(key.utf8))
    else { return nil }
    return String(decoding: opened, as: UTF8.self)
  }

  private func text(_ body: String) -> ProviderReply {
    ProviderReply(contentType: "text/plain; charset=utf-8", body: body)
  }
}
