// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Text in Prometheus's format, version 0.0.4.
struct ExpositionText {
  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  private(set) var text = ""

  /// Begins a metric.
  mutating func begin(_ name: String, type: String, help: String?) {
    if let help { text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n" }
    text += "# TYPE \(name) \(type)\n"
  }

  mutating func sample(_ name: String, _ labels: String, _ value: String) {
    text += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
  }

  /// A number as Go's `ParseFloat` reads it.
  static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
    return Int64(exactly: value).map { "\($0)" } ?? "\(value)"
  }

  /// Labels in the order of their names; of two with the same name the first counts.
  static func labels(_ dimensions: [(String, String)]) -> String {
    guard !dimensions.isEmpty else { return "" }
    var known: Set<String> = []
    let pairs = dimensions.map { (labelName($0), $1) }.filter { known.insert($0.0).inserted }
    return pairs.sorted { $0.0 < $1.0 }.map { "\($0)=\"\(escaped($1, quotes: true))\"" }.joined(separator: ",")
  }

  /// A metric's name in the characters that it may have: what is none of them becomes an underscore.
  static func metricName(_ name: String) -> String { permitted(name) { $0 == "_" || $0 == ":" } }

  /// A label's name likewise.
  ///
  /// Two underscores begin names of Prometheus's own; `le` is the limit of a bucket.
  private static func labelName(_ name: String) -> String {
    let permitted = permitted(name) { $0 == "_" }
    return permitted == "le" || permitted.hasPrefix("__") ? "label_" + permitted : permitted
  }

  private static func permitted(_ name: String, _ isMark: (Unicode.Scalar) -> Bool) -> String {
    var result = ""
    for scalar in name.unicodeScalars {
      switch scalar {
      case "a"..."z", "A"..."Z": result.unicodeScalars.append(scalar)
      case "0"..."9":
        if result.isEmpty { result = "_" }
        result.unicodeScalars.append(scalar)
      default: result.unicodeScalars.append(isMark(scalar) ? scalar : "_")
      }
    }
    return result.isEmpty ? "_" : result
  }

  /// Text between quotation marks, or to the line's end.
  ///
  /// What else a terminal would act on is escaped as everywhere: scrapes are read by people too. Its backslashes are the
  /// text's own.
  private static func escaped(_ text: String, quotes: Bool) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\"" where quotes: result += "\\\""
      default:
        result += scalar.isUnprintable ? "\\" + scalar.escaped(asASCII: true) : String(scalar)
      }
    }
    return result
  }
}
