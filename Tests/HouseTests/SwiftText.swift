// SPDX-License-Identifier: Apache-2.0
/// Swift source as its compiler's lexer would see it, as far as the house rules need: without a compiler.
enum SwiftText {
  /// The source with comments and literal text turned into spaces.
  ///
  /// Lines and columns stay where they were. Code inside `\(…)` is code and stays; a raw identifier with
  /// spaces in it is a sentence and goes. A bare `/…/` regular expression is taken for code.
  static func code(of source: String) -> String {
    var blanking = Blanking(source)
    blanking.code(insideParentheses: false)
    return blanking.result
  }

  /// One identifier of the code, with the character before it.
  struct Identifier: Equatable {
    var name: Substring
    /// The last character before the name that is no space: a dot makes it a member.
    var preceding: Character?
    /// How many braces are open around it.
    var depth: Int
    var line: Int
  }

  /// The identifiers and keywords of `code`, which has been through ``code(of:)``.
  static func identifiers(in code: String) -> [Identifier] {
    var found: [Identifier] = []
    var preceding: Character?
    var depth = 0
    var line = 1
    var index = code.startIndex
    while index < code.endIndex {
      let character = code[index]
      if character == "_" || character.isLetter {
        let end = code[index...].firstIndex { !($0 == "_" || $0.isLetter || $0.isNumber) } ?? code.endIndex
        found.append(Identifier(name: code[index..<end], preceding: preceding, depth: depth, line: line))
        preceding = "_"
        index = end
        continue
      }
      if character.isNumber {
        // `0xFF` and `1e9` are no names.
        index = code[index...].firstIndex { !($0 == "_" || $0.isLetter || $0.isNumber) } ?? code.endIndex
        preceding = "0"
        continue
      }
      if character == "{" { depth += 1 }
      if character == "}" { depth -= 1 }
      if character.isNewline { line += 1 }
      if !character.isWhitespace { preceding = character }
      index = code.index(after: index)
    }
    return found
  }
}

/// Walks over the bytes of a source text and overwrites what is no code.
private struct Blanking {
  private var bytes: [UInt8]
  private var at = 0

  init(_ source: String) {
    bytes = Array(source.utf8)
  }

  var result: String { String(decoding: bytes, as: UTF8.self) }

  /// Reads code up to the end, or up to the parenthesis that closes an interpolation.
  mutating func code(insideParentheses: Bool) {
    var open = 0
    while at < bytes.count {
      if starts(with: "//") {
        while at < bytes.count, bytes[at] != UInt8(ascii: "\n") { blank() }
      } else if starts(with: "/*") {
        comment()
      } else if let literal = literalOpening() {
        text(of: literal)
      } else if bytes[at] == UInt8(ascii: "`") {
        quotedIdentifier()
      } else {
        if insideParentheses, bytes[at] == UInt8(ascii: "(") { open += 1 }
        if insideParentheses, bytes[at] == UInt8(ascii: ")") {
          if open == 0 { return }
          open -= 1
        }
        at += 1
      }
    }
  }

  /// Comments nest in Swift.
  private mutating func comment() {
    var open = 0
    repeat {
      if starts(with: "/*") {
        open += 1
        blank(2)
      } else if starts(with: "*/") {
        open -= 1
        blank(2)
      } else {
        blank()
      }
    } while open > 0 && at < bytes.count
  }

  private struct Literal {
    var opening: Int
    var closing: String
    var escape: String
  }

  /// The literal that begins here, if one does: `"`, `"""`, either with number signs, or `#/`.
  private func literalOpening() -> Literal? {
    let signs = bytes[at...].prefix { $0 == UInt8(ascii: "#") }.count
    let tail = String(repeating: "#", count: signs)
    if starts(with: "\"\"\"", after: signs) {
      return Literal(opening: signs + 3, closing: "\"\"\"" + tail, escape: "\\" + tail)
    }
    if starts(with: "\"", after: signs) {
      return Literal(opening: signs + 1, closing: "\"" + tail, escape: "\\" + tail)
    }
    if signs > 0, starts(with: "/", after: signs) {
      return Literal(opening: signs + 1, closing: "/" + tail, escape: "\\")
    }
    return nil
  }

  private mutating func text(of literal: Literal) {
    blank(literal.opening)
    while at < bytes.count {
      if starts(with: literal.closing) {
        blank(literal.closing.utf8.count)
        return
      }
      if starts(with: literal.escape) {
        blank(literal.escape.utf8.count)
        if starts(with: "("), literal.closing.hasPrefix("\"") {
          blank()
          code(insideParentheses: true)
        }
      }
      blank()
    }
  }

  /// The backticks go; what stands between them stays when it is a plain name.
  private mutating func quotedIdentifier() {
    let name = bytes[(at + 1)...].prefix { $0 != UInt8(ascii: "`") && $0 != UInt8(ascii: "\n") }
    let plain = name.allSatisfy { byte in
      byte == UInt8(ascii: "_") || Character(UnicodeScalar(byte)).isLetter
        || Character(UnicodeScalar(byte)).isNumber
    }
    blank()
    if plain { at += name.count } else { blank(name.count) }
    blank()
  }

  private func starts(with text: String, after offset: Int = 0) -> Bool {
    bytes[min(at + offset, bytes.count)...].starts(with: text.utf8)
  }

  private mutating func blank(_ count: Int = 1) {
    for _ in 0..<count where at < bytes.count {
      if bytes[at] != UInt8(ascii: "\n") { bytes[at] = UInt8(ascii: " ") }
      at += 1
    }
  }
}
