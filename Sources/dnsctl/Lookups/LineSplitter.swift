/// Names out of bytes as they come: one a line, blank lines and `#` comments left out.
struct LineSplitter {
  private var rest: [UInt8] = []
  /// Whether the rest of an endless line is being thrown away.
  private var isSkipping = false
  private var isFirst = true

  /// No name is so long; a line without an end must not fill the memory.
  static let limit = 4096

  /// The names of all lines that are complete now.
  mutating func feed(_ bytes: [UInt8]) -> [String] {
    var names: [String] = []
    var start = bytes.startIndex
    while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
      append(bytes[start..<end])
      if let name = takeLine() { names.append(name) }
      isSkipping = false
      start = end + 1
    }
    append(bytes[start...])
    return names
  }

  /// The name of a last line without an end.
  mutating func finish() -> String? { takeLine() }

  private mutating func append(_ bytes: ArraySlice<UInt8>) {
    guard !isSkipping else { return }
    rest += bytes.prefix(Self.limit - rest.count)
    isSkipping = rest.count == Self.limit
  }

  private mutating func takeLine() -> String? {
    defer {
      rest.removeAll(keepingCapacity: true)
      isFirst = false
    }
    var line = rest[...]
    // Editors of one system put a byte order mark in front of text.
    if isFirst, line.starts(with: [0xef, 0xbb, 0xbf]) { line = line.dropFirst(3) }
    while let first = line.first, Self.isBlank(first) { line.removeFirst() }
    while let last = line.last, Self.isBlank(last) { line.removeLast() }
    guard let first = line.first, first != UInt8(ascii: "#") else { return nil }
    return String(decoding: line, as: UTF8.self)
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }
}
