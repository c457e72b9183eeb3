// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import HTTPTypes

/// An object as one compact line of JSON: every key, always in the same order.
///
/// Written by hand: `JSONEncoder` sorts keys or leaves their order open, and costs more than the lookup of a cached
/// name.
package struct JSONLine {
  /// The object, and the end of the line.
  package var text: String { object + "\n" }

  /// The object.
  var object: String { members + "}" }

  private var members = "{"

  /// The result for one name.
  init(_ outcome: LookupOutcome) {
    let resolution = try? outcome.result.get()
    add("host", Self.string(outcome.host))
    add("canonicalName", resolution?.canonicalName.map { Self.string($0.text) })
    add("addresses", resolution.map { Self.array($0.addresses.map { "\"\($0)\"" }) })
    add("ttl", resolution?.timeToLive.map { "\($0.components.seconds)" })
    add("age", resolution.map { "\($0.age.components.seconds)" })
    add("freshness", resolution.map { "\"\($0.freshness.rawValue)\"" })
    add("source", resolution.map { "\"\($0.source.kind)\"" })
    add("provider", resolution?.source.provider.map(Self.string))
    add("elapsedMs", outcome.elapsed.milliseconds)
    add("error", outcome.result.error.map(Self.object))
  }

  /// An object without members.
  package init() {}

  /// An error's code and message.
  static func object(_ error: DirectDNSError) -> String {
    "{\"code\":\(string(error.code.description)),\"message\":\(string(ErrorText.line(error)))}"
  }

  /// Adds a member: a key of ours, and a value that is JSON already.
  package mutating func add(_ key: String, _ value: String?) {
    if members.utf8.count > 1 { members += "," }
    members += "\"\(key)\":\(value ?? "null")"
  }

  /// A JSON array of values that are JSON already.
  static func array(_ values: some Sequence<String>) -> String { "[" + values.joined(separator: ",") + "]" }

  /// Header fields as `[[name, value], …]`.
  static func fields(_ fields: HTTPFields) -> String {
    array(fields.map { array([string($0.name.rawName), string($0.value)]) })
  }

  /// A JSON string.
  package static func string(_ text: String) -> String { text.jsonString }

  /// JSON from another encoder, with what acts on a terminal escaped too.
  ///
  /// JSON requires only ASCII control characters to be escaped, but terminals act on others too. They occur only in
  /// strings.
  static func escaped(_ json: String) -> String {
    guard !json.utf8.allSatisfy({ $0 < 0x7f }) else { return json }
    return json.unicodeScalars.map { $0.value < 0x7f ? String($0) : $0.jsonText }.joined()
  }
}

extension Duration {
  /// The duration in milliseconds with up to three decimals, such as `12.345`, `0.02` or `7`.
  package var milliseconds: String {
    let microseconds = max(0, wholeNanoseconds) / 1000
    let rest = microseconds % 1000
    guard rest > 0 else { return "\(microseconds / 1000)" }
    var decimals = String(1000 + rest).dropFirst()
    while decimals.last == "0" { decimals.removeLast() }
    return "\(microseconds / 1000).\(decimals)"
  }

  /// The duration as people read it: `0.4 ms`, `12.3 ms`, `1.25 s`.
  var readable: String {
    let microseconds = max(0, wholeNanoseconds) / 1000
    if microseconds < 1_000_000 {
      let tenths = (microseconds + 50) / 100
      return "\(tenths / 10).\(tenths % 10) ms"
    }
    let hundredths = (microseconds + 5000) / 10_000
    return "\(hundredths / 100).\(String(100 + hundredths % 100).dropFirst()) s"
  }

  /// The duration in the largest whole units: `45 s`, `3 min`, `2 h`, `5 d`, and `-45 s` for one that is over.
  var rough: String {
    let seconds = components.seconds
    // Less than a second counts as 0.
    guard seconds >= 0 else { return "-" + (Duration.zero - self).rough }
    return switch seconds {
    case ..<120: "\(seconds) s"
    case ..<7200: "\(seconds / 60) min"
    case ..<172_800: "\(seconds / 3600) h"
    default: "\(seconds / 86_400) d"
    }
  }
}
