// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// A value of the configuration file, or of a line of JSON, before it is checked.
///
/// Everything is read into this first: a `DecodingError` says where something is wrong but not what is there, and keyed
/// containers do not report unknown keys. A file is read by ``JSON5Reader``, a line of strict JSON by `JSONDecoder`.
package indirect enum ConfigurationValue: Decodable, Sendable, Hashable {
  case null
  case bool(Bool)
  case number(Double)
  case text(String)
  case list([ConfigurationValue])
  case object([String: ConfigurationValue])

  package init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: Key.self) {
      let pairs = try container.allKeys.map { ($0.stringValue, try container.decode(Self.self, forKey: $0)) }
      self = .object(Dictionary(pairs) { first, _ in first })
    } else if let list = try? decoder.singleValueContainer().decode([Self].self) {
      self = .list(list)
    } else {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        self = .null
      } else if let value = try? container.decode(Bool.self) {
        self = .bool(value)
      } else if let value = try? container.decode(String.self) {
        self = .text(value)
      } else {
        self = .number(try container.decode(Double.self))
      }
    }
  }

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

  private struct Key: CodingKey {
    let stringValue: String
    let intValue: Int? = nil
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}
