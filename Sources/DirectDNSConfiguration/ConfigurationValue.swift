// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// A value of the configuration file, or of a line of JSON, before it is checked.
///
/// Everything is read into this first: a `DecodingError` says where something is wrong but not what is there, and keyed
/// containers do not report unknown keys. A file is read by ``JSON5Reader``, a line of strict JSON by the reader of the
/// providers' replies.
package indirect enum ConfigurationValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case number(Double)
  case text(String)
  case list([ConfigurationValue])
  case object([String: ConfigurationValue])

  /// The value as errors show it.
  package var description: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .number(let value): Int(exactly: value).map(String.init) ?? "\(value)"
    case .text(let text): "\"\(text.count > 80 ? String(text.prefix(80)).printable + "…" : text.printable)\""
    case .list: "a list"
    case .object: "an object"
    }
  }
}
