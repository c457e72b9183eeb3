/// A JSON text's value, read strictly (RFC 8259) and with bounded depth.
///
/// Our own reader, since a lookup over a JSON API costs some 20 µs in all and `JSONDecoder` alone takes most of that
/// for a reply of 300 bytes; and since these APIs spell one thing in several types, which `Codable` makes no shorter.
enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  /// A number, as it was written.
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// Reads a whole text; nothing if it is not JSON.
  init?(_ bytes: [UInt8]) {
    var reader = JSONReader(bytes: bytes)
    guard let value = reader.value(depth: 0), reader.isAtEnd else { return nil }
    self = value
  }

  subscript(key: String) -> JSONValue? {
    guard case .object(let members) = self, let value = members[key], value != .null else { return nil }
    return value
  }

  var string: String? { if case .string(let text) = self { text } else { nil } }

  /// A whole number, or a string that spells one.
  var integer: Int64? {
    switch self {
    case .number(let text), .string(let text): Int64(text)
    default: nil
    }
  }

  var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

  var isObject: Bool { if case .object = self { true } else { false } }
}

/// A place in a JSON text, moved forward by reading.
struct JSONReader {
  /// No DNS API nests more than four deep.
  static let depthLimit = 16

  let bytes: [UInt8]
  private var index = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

  var isAtEnd: Bool {
    mutating get {
      skipSpace()
      return index == bytes.count
    }
  }

  private mutating func skipSpace() {
    while let byte, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { index += 1 }
  }

  private mutating func skip(_ expected: UInt8) -> Bool {
    skipSpace()
    guard byte == expected else { return false }
    index += 1
    return true
  }

  private mutating func skip(word: String) -> Bool {
    for expected in word.utf8 {
      guard byte == expected else { return false }
      index += 1
    }
    return true
  }

  mutating func value(depth: Int) -> JSONValue? {
    guard depth < Self.depthLimit else { return nil }
    skipSpace()
    switch byte {
    case UInt8(ascii: "{"): return object(depth: depth)
    case UInt8(ascii: "["): return array(depth: depth)
    case UInt8(ascii: "\""): return string().map(JSONValue.string)
    case UInt8(ascii: "t"): return skip(word: "true") ? .bool(true) : nil
    case UInt8(ascii: "f"): return skip(word: "false") ? .bool(false) : nil
    case UInt8(ascii: "n"): return skip(word: "null") ? .null : nil
    default: return number()
    }
  }

  private mutating func object(depth: Int) -> JSONValue? {
    index += 1
    var members: [String: JSONValue] = [:]
    if skip(UInt8(ascii: "}")) { return .object(members) }
    members.reserveCapacity(8)
    while true {
      skipSpace()
      guard let key = string(), skip(UInt8(ascii: ":")), let value = value(depth: depth + 1) else { return nil }
      members[key] = value
      if skip(UInt8(ascii: "}")) { return .object(members) }
      guard skip(UInt8(ascii: ",")) else { return nil }
    }
  }

  private mutating func array(depth: Int) -> JSONValue? {
    index += 1
    var elements: [JSONValue] = []
    if skip(UInt8(ascii: "]")) { return .array(elements) }
    while true {
      guard let value = value(depth: depth + 1) else { return nil }
      elements.append(value)
      if skip(UInt8(ascii: "]")) { return .array(elements) }
      guard skip(UInt8(ascii: ",")) else { return nil }
    }
  }

  private mutating func number() -> JSONValue? {
    let start = index
    if byte == UInt8(ascii: "-") { index += 1 }
    guard let first = byte, ASCII.isDigit(first) else { return nil }
    while let byte, ASCII.isDigit(byte) { index += 1 }
    if first == ASCII.zero, index - start > (bytes[start] == UInt8(ascii: "-") ? 2 : 1) { return nil }
    if byte == ASCII.dot {
      index += 1
      guard let byte, ASCII.isDigit(byte) else { return nil }
      while let byte = self.byte, ASCII.isDigit(byte) { index += 1 }
    }
    if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
      index += 1
      if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { index += 1 }
      guard let byte, ASCII.isDigit(byte) else { return nil }
      while let byte = self.byte, ASCII.isDigit(byte) { index += 1 }
    }
    return .number(String(decoding: bytes[start..<index], as: UTF8.self))
  }

  private mutating func string() -> String? {
    guard byte == UInt8(ascii: "\"") else { return nil }
    index += 1
    let start = index
    while let byte, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { index += 1 }
    if byte == UInt8(ascii: "\"") {
      index += 1
      return String(decoding: bytes[start..<(index - 1)], as: UTF8.self)
    }
    return escapedString(Array(bytes[start..<index]))
  }

  private mutating func escapedString(_ beginning: [UInt8]) -> String? {
    var text = beginning
    while let current = byte, current >= 0x20 {
      index += 1
      if current == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
      guard current == UInt8(ascii: "\\") else {
        text.append(current)
        continue
      }
      guard let escape = byte else { return nil }
      index += 1
      switch escape {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(escape)
      case UInt8(ascii: "b"): text.append(8)
      case UInt8(ascii: "f"): text.append(12)
      case UInt8(ascii: "n"): text.append(10)
      case UInt8(ascii: "r"): text.append(13)
      case UInt8(ascii: "t"): text.append(9)
      case UInt8(ascii: "u"):
        guard let scalar = escapedScalar() else { return nil }
        text += Array(String(Character(scalar)).utf8)
      default: return nil
      }
    }
    return nil
  }

  private mutating func escapedUnit() -> UInt16? {
    guard index + 4 <= bytes.count else { return nil }
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = ASCII.hexValue(bytes[index]) else { return nil }
      unit = unit << 4 | UInt16(digit)
      index += 1
    }
    return unit
  }

  /// The scalar behind `\u`, two units for one beyond the first plane; a lone surrogate becomes U+FFFD.
  private mutating func escapedScalar() -> Unicode.Scalar? {
    guard let unit = escapedUnit() else { return nil }
    if let scalar = Unicode.Scalar(unit) { return scalar }
    guard unit < 0xdc00, byte == UInt8(ascii: "\\"), index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "u")
    else { return "\u{fffd}" }
    let mark = index
    index += 2
    guard let low = escapedUnit() else { return nil }
    guard (0xdc00..<0xe000).contains(low) else {
      index = mark
      return "\u{fffd}"
    }
    return Unicode.Scalar(0x10000 + (UInt32(unit) - 0xd800) << 10 + (UInt32(low) - 0xdc00))
  }
}
