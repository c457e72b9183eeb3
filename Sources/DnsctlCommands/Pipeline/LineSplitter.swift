// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Splits standard input into lines, each an item of work.
struct LineSplitter: Sendable {
  /// What one line holds.
  enum Content: Sendable {
    /// A name; a `#` and what follows it are a comment, as in a file of names.
    case name
    /// A JSON value (jsonlines.org).
    case json
  }

  private let content: Content
  private var reader: LineReader

  /// Creates a splitter.
  init(_ content: Content = .name) {
    self.content = content
    reader = content == .name ? LineReader() : LineReader(limit: 1 << 20, hasComments: false)
  }

  /// All lines that are complete now.
  mutating func feed(_ bytes: [UInt8]) -> [Pipeline.Item] { reader.feed(bytes).map(item) }

  /// A last line without an end.
  mutating func finish() -> Pipeline.Item? { reader.finish().map(item) }

  /// Invalid names are reported later, with their text.
  private func item(_ line: LineReader.Line) -> Pipeline.Item {
    if content == .json, let fault = line.fault {
      .unreadable(fault, number: line.number)
    } else {
      .line(line.text, number: line.number)
    }
  }
}
