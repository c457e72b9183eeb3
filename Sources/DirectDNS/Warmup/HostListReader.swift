/// Host names out of a list's bytes as they come: one a line, with `#` comments and blank lines.
struct HostListReader: Sendable {
  /// What a line holds.
  enum Content: Sendable, Hashable {
    case host(String)
    /// The reason for which the line cannot be read.
    case unreadable(String)
  }

  /// A line that is neither blank nor a comment, and its number, from 1 on.
  struct Line: Sendable, Hashable {
    var number: Int
    var content: Content
  }

  /// No host is longer in any spelling: a line without an end must not fill the memory.
  static let limit = 4096

  private var rest: [UInt8] = []
  private var number = 0
  private var isTooLong = false

  /// All lines that are complete now.
  mutating func feed(_ bytes: some Collection<UInt8>) -> [Line] {
    var lines: [Line] = []
    var bytes = bytes[...]
    while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
      append(bytes[..<end])
      if let line = takeLine() { lines.append(line) }
      bytes = bytes[bytes.index(after: end)...]
    }
    append(bytes)
    return lines
  }

  /// A last line without an end.
  mutating func finish() -> Line? { rest.isEmpty ? nil : takeLine() }

  private mutating func append(_ bytes: some Collection<UInt8>) {
    let room = Self.limit - rest.count
    rest += bytes.prefix(room)
    if bytes.count > room { isTooLong = true }
  }

  private mutating func takeLine() -> Line? {
    number += 1
    defer {
      rest.removeAll(keepingCapacity: true)
      isTooLong = false
    }
    var line = rest[...]
    // Editors of one system put a byte order mark in front of text.
    if number == 1, line.starts(with: [0xef, 0xbb, 0xbf]) { line = line.dropFirst(3) }
    // No host has a number sign: whatever follows one is a comment.
    if let mark = line.firstIndex(of: UInt8(ascii: "#")) {
      line = line[..<mark]
      isTooLong = false
    }
    while let first = line.first, Self.isBlank(first) { line.removeFirst() }
    while let last = line.last, Self.isBlank(last) { line.removeLast() }
    guard !line.isEmpty else { return nil }
    guard !isTooLong else {
      return Line(number: number, content: .unreadable("the line is longer than \(Self.limit) bytes"))
    }
    guard let text = String(validating: line, as: UTF8.self) else {
      return Line(number: number, content: .unreadable("the line is not UTF-8"))
    }
    return Line(number: number, content: .host(text))
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }
}
