// SPDX-License-Identifier: Apache-2.0
/// Checks a chunked body byte by byte (RFC 9112 §7.1), takes out its chunk extensions, and finds its end.
///
/// Trailers of a response may be as its fields; those that cannot be read are dropped.
///
/// A value that is fed with bytes. It returns what may be passed on as ranges, so that nothing is copied.
package struct ChunkedBody: Sendable {
  /// What is to be passed on.
  package enum Piece: Equatable, Sendable {
    /// These of the bytes that were read.
    case pass(Range<Int>)
    /// The trailers' lines with their line ends, and the empty line after them.
    case end(trailers: [UInt8])
  }

  private enum State: Sendable {
    case size(digits: Int, value: Int)
    case chunkExtension(ChunkExtension, length: Int)
    case sizeLineFeed
    case data(Int)
    case dataReturn
    case dataLineFeed
    case trailers([UInt8])
    case over
  }

  /// A number with so many hexadecimal digits fits into an `Int`.
  private static let digitLimit = 15
  private static let extensionLimit = 4096
  /// The most bytes of trailers.
  private static let trailerLimit = 16_384

  private let kind: HeadParser.Kind
  /// Whether only the chunks' data is passed on.
  private let isDecoded: Bool
  private let dropped: Set<[UInt8]>
  private var state = State.size(digits: 0, value: 0)
  private var size = 0
  /// The bytes of the chunks' data that were read.
  package private(set) var dataCount = 0

  /// Creates one at the first byte of a body.
  ///
  /// - Parameters:
  ///   - kind: of what it is the body; a request's by default.
  ///   - isDecoded: whether only the chunks' data is passed on, for a client of HTTP/1.0.
  ///   - dropped: the trailers that are for this hop alone, in lower case (RFC 9110 §7.6.1).
  package init(_ kind: HeadParser.Kind = .request, isDecoded: Bool = false, without dropped: Set<[UInt8]> = []) {
    self.kind = kind
    self.isDecoded = isDecoded
    self.dropped = dropped
  }

  package var isOver: Bool { if case .over = state { true } else { false } }

  /// Reads the next bytes.
  ///
  /// - Parameters:
  ///   - bytes: what has come.
  ///   - pieces: what is to be passed on is appended to it, also what comes before something that is wrong.
  /// - Returns: how many bytes belong to the body: all of them, unless it has ended.
  /// - Throws: what is wrong with it.
  package mutating func read(_ bytes: Span<UInt8>, into pieces: inout [Piece]) throws(MessageFault) -> Int {
    var index = 0
    var passed = 0
    /// Passes on what came since the last piece, or drops it if it is not wanted.
    func pass(to end: Int, wanted: Bool) {
      if wanted, end > passed { pieces.append(.pass(passed..<end)) }
      passed = end
    }
    defer {
      switch state {
      case .chunkExtension, .trailers, .over: break
      default: pass(to: index, wanted: !isDecoded)
      }
    }
    while index < bytes.count {
      let byte = bytes[index]
      switch state {
      case .size(let digits, let value):
        if let digit = byte.hexadecimalValue {
          guard digits < Self.digitLimit else { throw .malformed("a chunk's size is too large") }
          state = .size(digits: digits + 1, value: value << 4 | Int(digit))
        } else {
          guard digits > 0 else { throw .malformed("a chunk has no size") }
          size = value
          switch byte {
          case 0x0d: state = .sizeLineFeed
          case UInt8(ascii: ";"), 0x20, 0x09:
            pass(to: index, wanted: !isDecoded)
            var part = ChunkExtension()
            _ = try part.read(byte)
            state = .chunkExtension(part, length: 1)
          default: throw .malformed("a chunk size has a character that is not a hexadecimal digit")
          }
        }
        index += 1
      case .chunkExtension(var part, let length):
        if try part.read(byte) {
          pass(to: index, wanted: false)
          state = .sizeLineFeed
        } else {
          guard length < Self.extensionLimit else { throw .tooLarge }
          state = .chunkExtension(part, length: length + 1)
        }
        index += 1
      case .sizeLineFeed:
        guard byte == 0x0a else { throw .malformed("a carriage return without a line feed") }
        index += 1
        // The size and its chunk are passed on as one piece, since each piece costs a write.
        if isDecoded || size == 0 { pass(to: index, wanted: !isDecoded) }
        state = size > 0 ? .data(size) : .trailers([])
      case .data(let left):
        let count = min(left, bytes.count - index)
        index += count
        dataCount += count
        if isDecoded { pass(to: index, wanted: true) }
        state = count < left ? .data(left - count) : .dataReturn
      case .dataReturn:
        guard byte == 0x0d else { throw .malformed("a chunk is longer than its size") }
        index += 1
        state = .dataLineFeed
      case .dataLineFeed:
        guard byte == 0x0a else { throw .malformed("a carriage return without a line feed") }
        index += 1
        if isDecoded { pass(to: index, wanted: false) }
        state = .size(digits: 0, value: 0)
      case .trailers(var lines):
        state = .over
        lines.append(byte)
        index += 1
        guard lines.count <= Self.trailerLimit else { throw .tooLarge }
        guard byte != 0x0a || Self.endsInLineEnd(lines, before: 0) else {
          throw .malformed("a line ends without a carriage return")
        }
        if byte == 0x0a, lines.count == 2 || Self.endsInLineEnd(lines, before: 2) {
          pass(to: index, wanted: false)
          pieces.append(.end(trailers: isDecoded ? [] : try checked(lines)))
          return index
        }
        state = .trailers(lines)
      case .over: return index
      }
    }
    return index
  }

  /// Whether there is a carriage return and a line feed so many bytes before the end.
  private static func endsInLineEnd(_ lines: [UInt8], before count: Int) -> Bool {
    // Not by suffix(_:) == […], which goes through all lines each time.
    let end = lines.count - count
    return end >= 2 && lines[end - 2] == 0x0d && lines[end - 1] == 0x0a
  }

  /// The trailers that may be passed on: without fields of framing, routing and credentials (RFC 9110 §6.5.1).
  private func checked(_ lines: [UInt8]) throws(MessageFault) -> [UInt8] {
    guard lines.count > 2 else { return lines }
    // The line before them can be neither folded nor a field.
    var lines = [0x0d, 0x0a] + lines
    if kind == .response { HeadParser.mend(&lines) }
    let bytes = lines.span
    var kept: [UInt8] = []
    var start = 2
    for index in start..<bytes.count where bytes[index] == 0x0a {
      let line = start..<index - 1
      start = index + 1
      guard !line.isEmpty else { break }
      do throws(MessageFault) {
        let field = try HeadParser.field(bytes, line, kind)
        if field.name.isAllowedInTrailers, !isDropped(lines[line.lowerBound..<field.colon]) {
          kept += lines[line.lowerBound...index]
        }
      } catch {
        guard kind == .response else { throw error }
      }
    }
    return kept + [0x0d, 0x0a]
  }

  private func isDropped(_ name: ArraySlice<UInt8>) -> Bool {
    !dropped.isEmpty && dropped.contains(name.map(ConnectionNames.lowered))
  }
}

/// The extensions after a chunk's size (RFC 9112 §7.1.1): `;name=value`, the value a token or a quoted text.
///
/// White space is allowed before a semicolon and around names and values, but not at a line's end, where parsers
/// disagree.
private struct ChunkExtension: Sendable {
  private enum State: Sendable {
    case space, beforeName, name, afterName, beforeValue, value, quoted, escaped, closed
  }

  private var state = State.space

  /// Reads a byte.
  ///
  /// - Returns: whether it ends the line.
  mutating func read(_ byte: UInt8) throws(MessageFault) -> Bool {
    let isSpace = byte == 0x20 || byte == 0x09
    switch (state, byte) {
    case (.quoted, UInt8(ascii: "\"")): state = .closed
    case (.quoted, UInt8(ascii: "\\")): state = .escaped
    case (.quoted, 0x09), (.quoted, 0x20...0x7e), (.quoted, 0x80...): break
    case (.escaped, 0x09), (.escaped, 0x20...0x7e), (.escaped, 0x80...): state = .quoted
    case (.space, _) where isSpace, (.beforeName, _) where isSpace, (.afterName, _) where isSpace,
      (.beforeValue, _) where isSpace:
      break
    case (.name, _) where isSpace: state = .afterName
    case (.value, _) where isSpace, (.closed, _) where isSpace: state = .space
    case (.space, UInt8(ascii: ";")), (.name, UInt8(ascii: ";")), (.afterName, UInt8(ascii: ";")),
      (.value, UInt8(ascii: ";")), (.closed, UInt8(ascii: ";")):
      state = .beforeName
    case (.name, UInt8(ascii: "=")), (.afterName, UInt8(ascii: "=")): state = .beforeValue
    case (.beforeValue, UInt8(ascii: "\"")): state = .quoted
    case (.beforeName, _) where byte.isTokenByte, (.name, _) where byte.isTokenByte: state = .name
    case (.beforeValue, _) where byte.isTokenByte, (.value, _) where byte.isTokenByte: state = .value
    case (.name, 0x0d), (.value, 0x0d), (.closed, 0x0d): return true
    default: throw .malformed("a chunk extension is invalid")
    }
    return false
  }
}
