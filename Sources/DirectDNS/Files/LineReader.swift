// SPDX-License-Identifier: Apache-2.0
/// Splits bytes as they come into lines, without blank ones: of a list, whose comments begin with `#`, or of any text.
package struct LineReader: Sendable {
  /// A line that is neither blank nor a comment.
  package struct Line: Sendable, Hashable {
    /// The line's number; the first is 1.
    package var number: Int
    /// The text, without blanks at both ends; if it cannot be read, as much of it as can be shown.
    package var text: String
    /// Why it cannot be read.
    package var fault: String?
  }

  /// How many bytes a line may have: one without an end must not fill the memory.
  private let limit: Int
  private let hasComments: Bool
  private var rest: [UInt8] = []
  private var number = 0
  private var isTooLong = false

  /// Creates a reader for a list of names, with a limit of 4096 bytes: no name is that long in any spelling.
  package init() { self.init(limit: 4096, hasComments: true) }

  package init(limit: Int, hasComments: Bool) {
    self.limit = limit
    self.hasComments = hasComments
  }

  /// Takes bytes, and returns the lines that are complete now.
  ///
  /// Of one type: from another module a generic function is called as it is, and costs 40 ns a byte.
  package mutating func feed(_ bytes: [UInt8]) -> [Line] {
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

  /// The last line, if it has no line end.
  package mutating func finish() -> Line? { rest.isEmpty ? nil : takeLine() }

  private mutating func append(_ bytes: ArraySlice<UInt8>) {
    let room = limit - rest.count
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
    // Some editors put a byte order mark in front of the text.
    if number == 1, line.starts(with: [0xef, 0xbb, 0xbf]) { line = line.dropFirst(3) }
    // No host name has a number sign: the rest of the line is a comment.
    if hasComments, let mark = line.firstIndex(of: UInt8(ascii: "#")) {
      line = line[..<mark]
      isTooLong = false
    }
    line = line.trimming(ASCII.isBlankOrReturn)
    guard !line.isEmpty else { return nil }
    let text = String(validating: line, as: UTF8.self)
    let fault = isTooLong ? "the line is longer than \(limit) bytes" : text == nil ? "the line is not UTF-8" : nil
    return Line(number: number, text: text ?? String(decoding: line, as: UTF8.self), fault: fault)
  }
}
