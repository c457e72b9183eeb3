// SPDX-License-Identifier: Apache-2.0
import DirectDNS

/// The answer about one family of one name, as both EMAS versions send it.
struct EMASFamily {
  let type: DNSRecordType
  let addresses: [String]
  let ttl: Int
  let responseCode: DNSMessage.ResponseCode

  init(_ name: DNSName, _ type: DNSRecordType, in context: AnswerContext) {
    let lookup = context.lookup(DNSQuestion(name: name, type: type))
    self.type = type
    addresses = lookup.answers.filter { $0.type == type }.map(\.presentation)
    ttl = Int(lookup.lifetime ?? 60)
    responseCode = lookup.responseCode
  }

  /// The addresses as JSON.
  var list: JSONText { .array(addresses.map(JSONText.string)) }

  /// The families for `4`, `6` or `4,6`; IPv4 if the parameter is missing.
  static func types(_ query: String?) -> [DNSRecordType]? {
    switch query {
    case nil, "", "4": [.a]
    case "6": [.aaaa]
    case "4,6", "6,4": [.a, .aaaa]
    default: nil
    }
  }

  /// The `extra` member, escaped for HTML, if a test asks for it.
  static func extra(in context: AnswerContext) -> [(String, JSONText)] {
    guard let extra = context.distortion.extra else { return [] }
    let escapes: [Character: String] = ["&": "&amp;", "\"": "&quot;", "'": "&#39;", "<": "&lt;", ">": "&gt;"]
    return [("extra", .string(extra.map { escapes[$0] ?? String($0) }.joined()))]
  }
}
