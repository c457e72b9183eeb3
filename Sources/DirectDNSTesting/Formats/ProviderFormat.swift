// SPDX-License-Identifier: Apache-2.0
import DirectDNS

/// What a format needs besides the request to make its reply.
struct AnswerContext: Sendable {
  let records: RecordTable
  let configuration: FakeProviderConfiguration
  let distortion: Distortion
  /// The wall clock in seconds since 1970.
  let now: Int64

  /// Looks a question up in the table, and distorts the result.
  func lookup(_ question: DNSQuestion) -> RecordTable.Lookup {
    var lookup = records.lookup(question)
    for change in distortion.lookupChanges { change(&lookup) }
    return lookup
  }

  /// The name that a reply claims to answer.
  func echoed(_ name: DNSName) -> DNSName { distortion.hasWrongQuestion ? Distortion.wrongName : name }
}

/// The format of one provider's requests and replies.
///
/// The path of a request decides which format it has.
protocol ProviderFormat: Sendable {
  /// The questions of a request, parsed leniently, for the record of the request.
  func questions(
    in request: RecordedRequest, configuration: FakeProviderConfiguration
  ) -> [DNSQuestion]

  /// The reply to a request, which is parsed strictly.
  func reply(to request: RecordedRequest, in context: AnswerContext) -> ProviderReply
}

/// The formats by path, as on the real servers.
enum ProviderRoute {
  static func format(path: String, request: RecordedRequest, vendor: FakeProviderConfiguration.Vendor)
    -> (any ProviderFormat)?
  {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
    switch parts.joined(separator: "/") {
    case "resolve": return JSONFormat(style: vendor)
    case "dns-query" where MessageFormat.isMeant(by: request): return MessageFormat()
    case "dns-query": return JSONFormat(style: vendor == .dnspod ? .dnspod : .cloudflare)
    case "d": return DNSPodFormat()
    case "v2/d": return EMASv2Format()
    default:
      guard parts.count == 2, let verb = EMASFormat.Verb(rawValue: parts[1]) else { return nil }
      return EMASFormat(verb: verb)
    }
  }
}

extension DNSName {
  /// A name as the providers accept it: only ASCII, so Punycode for anything else, and not the root.
  init?(query text: String) {
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), let name = DNSName(text), name != .root
    else { return nil }
    self = name
  }

  /// The names of a list with commas; nil if one of them is invalid.
  static func list(_ text: String) -> [DNSName]? {
    let names = text.split(separator: ",", omittingEmptySubsequences: false).map { DNSName(query: String($0)) }
    return names.contains(nil) ? nil : names.compactMap(\.self)
  }
}
