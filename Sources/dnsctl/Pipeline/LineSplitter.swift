/// Lines out of bytes as they come, blank ones left out.
struct LineSplitter: Sendable {
  /// What one line holds.
  enum Content: Sendable {
    /// A name; a `#` and what follows it are a comment, as in a file of names.
    case name
    /// A JSON value (jsonlines.org).
    case json

    /// No line is longer in earnest: one without an end must not fill the memory.
    var limit: Int { self == .name ? 4096 : 1 << 20 }
  }

  private let content: Content
  private var rest: [UInt8] = []
  /// Whether the rest of an endless line is being thrown away.
  private var isSkipping = false
  private var isFirst = true

  /// Creates a splitter.
  init(_ content: Content = .name) { self.content = content }

  /// All lines that are complete now.
  mutating func feed(_ bytes: [UInt8]) -> [Pipeline.Item] {
    var lines: [Pipeline.Item] = []
    var start = bytes.startIndex
    while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
      append(bytes[start..<end])
      if let line = takeLine() { lines.append(line) }
      isSkipping = false
      start = end + 1
    }
    append(bytes[start...])
    return lines
  }

  /// A last line without an end.
  mutating func finish() -> Pipeline.Item? { takeLine() }

  private mutating func append(_ bytes: ArraySlice<UInt8>) {
    guard !isSkipping else { return }
    rest += bytes.prefix(content.limit - rest.count)
    isSkipping = rest.count == content.limit
  }

  private mutating func takeLine() -> Pipeline.Item? {
    defer {
      rest.removeAll(keepingCapacity: true)
      isFirst = false
    }
    var line = rest[...]
    // Editors of one system put a byte order mark in front of text.
    if isFirst, line.starts(with: [0xef, 0xbb, 0xbf]) { line = line.dropFirst(3) }
    if content == .name, let mark = line.firstIndex(of: UInt8(ascii: "#")) { line = line[..<mark] }
    while let first = line.first, Self.isBlank(first) { line.removeFirst() }
    while let last = line.last, Self.isBlank(last) { line.removeLast() }
    guard !line.isEmpty else { return nil }
    guard content == .json else { return .line(String(decoding: line, as: UTF8.self)) }
    guard !isSkipping else { return .unreadable("the line is longer than \(content.limit) bytes") }
    guard let text = String(validating: line, as: UTF8.self) else { return .unreadable("the line is not UTF-8") }
    return .line(text)
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }
}
