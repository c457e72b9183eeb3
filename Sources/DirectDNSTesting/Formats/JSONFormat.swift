// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import HTTPTypes

/// The JSON of AliDNS, Google, Cloudflare and `doh.pub`: one structure with differences that matter.
struct JSONFormat: ProviderFormat {
  let style: FakeProviderConfiguration.Vendor

  func questions(
    in request: RecordedRequest, configuration: FakeProviderConfiguration
  ) -> [DNSQuestion] {
    guard let name = request.value("name").flatMap(DNSName.init(query:)) else { return [] }
    return [DNSQuestion(name: name, type: DNSRecordType(request.value("type") ?? "A") ?? .a)]
  }

  func reply(to request: RecordedRequest, in context: AnswerContext) -> ProviderReply {
    guard request.method == .get else { return .refusal(501, "Only GET.") }
    guard let text = request.value("name"), let name = DNSName(query: text) else {
      return badRequest("Invalid query name.")
    }
    guard let type = DNSRecordType(request.value("type") ?? "A"), type.rawValue > 0 else {
      return badRequest("Invalid query type `\(request.value("type") ?? "")`.")
    }
    for flag in ["cd", "do"] {
      guard let value = request.value(flag) else { continue }
      guard ["", "0", "1", "true", "false"].contains(value.lowercased()) else {
        return badRequest("Invalid \(flag.uppercased()) flag `\(value)`. Expected to be empty or one of ...")
      }
    }
    guard isAuthorised(request, name: text, in: context) else {
      return ProviderReply(status: 401, json: .object([("error", .string("Unauthorized"))]))
    }
    let question = DNSQuestion(name: name, type: type)
    if style == .google, request.value("ct") == MessageFormat.contentType {
      return MessageFormat().reply(to: DNSMessage(questions: [question]), question, in: context)
    }
    let lookup = context.lookup(question)
    let asksShort = style == .alidns && ["1", "true"].contains(request.value("short") ?? "")
    if context.distortion.isShort || asksShort {
      return ProviderReply(json: .array(lookup.addresses.map { .string($0.description) }))
    }
    var fields = HTTPFields()
    if style == .google, let lifetime = lookup.lifetime {
      fields[.cacheControl] = "private, max-age=\(lifetime)"
    }
    return ProviderReply(
      contentType: contentType, fields: fields,
      json: body(question, lookup, request, distortion: context.distortion, echo: context.echoed(name)))
  }

  private var contentType: String {
    switch style {
    case .alidns: "application/json"
    case .google, .dnspod: "application/json; charset=UTF-8"
    case .cloudflare: "application/dns-json"
    }
  }

  private func badRequest(_ reason: String) -> ProviderReply {
    style == .cloudflare
      ? ProviderReply(status: 400, json: .object([("error", .string(reason))])) : .refusal(400, reason)
  }

  private func isAuthorised(_ request: RecordedRequest, name: String, in context: AnswerContext) -> Bool {
    guard !context.distortion.refusesCredentials else { return false }
    guard style == .alidns, let account = context.configuration.alidnsAccount else { return true }
    guard request.value("uid") == account.id, request.value("ak") == account.accessKeyID,
      let timestamp = request.value("ts"), let seconds = Int64(timestamp),
      abs(seconds.subtractingReportingOverflow(context.now).partialValue) <= account.window
    else { return false }
    return request.value("key")
      == ProviderSignature.alidns(account: account, timestamp: timestamp, name: name)
  }

  private func body(
    _ question: DNSQuestion, _ lookup: RecordTable.Lookup, _ request: RecordedRequest,
    distortion: Distortion, echo: DNSName
  ) -> JSONText {
    func number(_ value: some BinaryInteger) -> JSONText {
      distortion.writesNumbersAsText ? .string("\(value)") : .number(Int(value))
    }
    func rows(_ records: [DNSRecord]) -> JSONText {
      .array(
        records.map { record in
          .object([
            ("name", .string(written(record.owner))), ("type", number(record.type.rawValue)),
            ("TTL", number(record.ttl)), ("data", .string(record.presentation)),
          ])
        })
    }
    let asked = JSONText.object([
      ("name", .string(written(echo))), ("type", number(question.type.rawValue)),
    ])
    let checkingDisabled = ["1", "true", ""].contains(request.value("cd")?.lowercased())
    var members: [(String, JSONText)] =
      distortion.hasStatus ? [("Status", number(lookup.responseCode.rawValue))] : []
    members += [
      ("TC", .boolean(distortion.isTruncated)), ("RD", .boolean(true)), ("RA", .boolean(true)),
      ("AD", .boolean(false)), ("CD", .boolean(checkingDisabled)),
      ("Question", style == .alidns ? asked : .array([asked])),
    ]
    switch distortion.answerMember {
    case .missing: break
    case .empty: members.append(("Answer", .array([])))
    case .null: members.append(("Answer", .null))
    case nil: if !lookup.answers.isEmpty { members.append(("Answer", rows(lookup.answers))) }
    }
    if !lookup.authorities.isEmpty { members.append(("Authority", rows(lookup.authorities))) }
    if style == .google, let subnet = request.value("edns_client_subnet") {
      members.append(("edns_client_subnet", .string(subnet)))
    }
    switch style {
    case .google: members.append(("Comment", .string("Response from 192.0.2.53.")))
    case .cloudflare where lookup.responseCode != .noError:
      members.append(("Comment", .array([.string("EDE(22): No Reachable Authority")])))
    case .alidns, .cloudflare, .dnspod: break
    }
    return .object(members)
  }

  /// Cloudflare leaves the final dot of owners out; the others write it.
  private func written(_ name: DNSName) -> String { style == .cloudflare ? name.text : name.description }
}
