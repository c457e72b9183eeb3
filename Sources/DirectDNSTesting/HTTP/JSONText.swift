// SPDX-License-Identifier: Apache-2.0
import DirectDNS

/// A JSON value whose members keep their order, as the providers write them.
indirect enum JSONText: Sendable {
  case object([(String, JSONText)])
  case array([JSONText])
  case string(String)
  case number(Int)
  case boolean(Bool)
  case null

  /// The value's text.
  var text: String {
    switch self {
    case .object(let members):
      "{" + members.map { $0.0.jsonString + ":" + $0.1.text }.joined(separator: ",") + "}"
    case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
    case .string(let text): text.jsonString
    case .number(let number): String(number)
    case .boolean(let flag): flag ? "true" : "false"
    case .null: "null"
    }
  }
}
