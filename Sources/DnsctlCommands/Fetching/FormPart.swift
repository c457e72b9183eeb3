// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// One `-F`: a part of a form, as curl reads and sends it (RFC 7578).
struct FormPart: Sendable, Hashable {
  enum Content: Sendable, Hashable {
    case text(String)
    /// `<file`: the file's content, as if it had been typed.
    case content(of: String)
    /// `@file`: a file that is uploaded under that name.
    case upload(String, name: String)
  }

  var name: String
  var content: Content
  /// The part's own `Content-Type`.
  var type: String?

  /// Reads `NAME=CONTENT`, `NAME=@FILE` and `NAME=<FILE`.
  ///
  /// - Parameters:
  ///   - part: the option.
  ///   - place: which one it is, for errors: the text may be a secret.
  /// - Throws: what is wrong with it.
  init(_ part: DataPart, at place: String = "") throws(CommandError) {
    guard let equals = part.text.unicodeScalars.firstIndex(of: "=") else {
      throw CommandError(
        .usage, "\(part.option)\(place) has no =. Write NAME=CONTENT, NAME=@FILE or NAME=<FILE.")
    }
    name = String(part.text.unicodeScalars[..<equals])
    let rest = part.text.unicodeScalars[part.text.unicodeScalars.index(after: equals)...]
    guard part.kind == .formPart else {
      content = .text(String(rest))
      return
    }
    var reader = Reader(rest)
    let mark = reader.takeMark()
    let value = try reader.word(of: name)
    let wasQuoted = reader.wasQuoted
    var fileName: String?
    while let (key, value) = try reader.attribute(of: name) {
      switch key {
      case "type": type = value
      case "filename": fileName = value
      default:
        throw CommandError(
          .usage, "-F \(name.printable): ;\(key.printable)= is not offered. Give ;type= or ;filename=.")
      }
    }
    switch mark {
    case "@"?:
      guard !value.unicodeScalars.contains(",") || wasQuoted else {
        throw CommandError(
          .usage, "-F \(name.printable): several files in one part are not offered: give -F once for each.")
      }
      let own = value.split(separator: "/").last.map(String.init) ?? value
      content = .upload(value, name: fileName ?? own)
      // By the name that is told, else by the file's own; standard input, which is no file, has none by default.
      if type == nil {
        let other = value == Pipeline.inputMark ? nil : "application/octet-stream"
        type = fileName.flatMap { Self.type(of: $0) } ?? Self.type(of: value) ?? other
      }
    case "<"?: content = .content(of: value)
    default:
      guard fileName == nil else {
        throw CommandError(.usage, "-F \(name.printable): ;filename= goes with @FILE.")
      }
      content = .text(value)
    }
    if let type { try Self.check(type: type, of: name) }
  }

  private static func check(type: String, of name: String) throws(CommandError) {
    guard type.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
      throw CommandError(.usage, "-F \(name.printable): the type has a character that no header field may have.")
    }
    // As much as curl asks for.
    guard type.prefix(while: { $0 != ";" }).split(separator: "/").count > 1 else {
      throw CommandError(.usage, "-F \(name.printable): that is no media type: write ;type=text/plain, for example.")
    }
  }

  /// The part as it is sent, with the boundary before it.
  func bytes(
    _ boundary: String, file: (String) throws(CommandError) -> [UInt8]
  ) throws(CommandError) -> [UInt8] {
    var head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.escaped(name))\""
    let bytes: [UInt8]
    switch content {
    case .text(let text): bytes = Array(text.utf8)
    case .content(let path): bytes = try file(path)
    case .upload(let path, let name):
      head += "; filename=\"\(Self.escaped(name))\""
      bytes = try file(path)
    }
    if let type { head += "\r\nContent-Type: \(type)" }
    return Array("\(head)\r\n\r\n".utf8) + bytes + Array("\r\n".utf8)
  }

  /// Escapes a name as browsers and curl from 7.81 on do (WHATWG HTML, multipart/form-data).
  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.map { scalar in
      switch scalar {
      case "\"": "%22"
      case "\r": "%0D"
      case "\n": "%0A"
      default: String(scalar)
      }
    }.joined()
  }

  /// The type that curl gives a file by the end of its name.
  private static func type(of name: String) -> String? {
    let types = [
      ".gif": "image/gif", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".svg": "image/svg+xml",
      ".txt": "text/plain", ".htm": "text/html", ".html": "text/html", ".pdf": "application/pdf",
      ".xml": "application/xml",
    ]
    let lower = name.lowercased()
    return types.first { lower.hasSuffix($0.key) }?.value
  }

  /// A boundary that occurs in a content only with a probability of 1 in 2^128.
  static func newBoundary() -> String {
    let digits = (0..<32).map { _ in String(Int.random(in: 0..<16), radix: 16) }
    return String(repeating: "-", count: 24) + digits.joined()
  }
}

extension FormPart {
  /// Reads what follows the equals sign: a word, quoted if it contains a semicolon, and attributes.
  private struct Reader {
    private var rest: Substring.UnicodeScalarView
    private(set) var wasQuoted = false

    init(_ text: Substring.UnicodeScalarView) { rest = text }

    mutating func takeMark() -> Unicode.Scalar? {
      guard rest.first == "@" || rest.first == "<" else { return nil }
      return rest.popFirst()
    }

    /// The text up to a semicolon, without the blanks around it; or that in quotation marks, where a backslash escapes.
    mutating func word(of name: String) throws(CommandError) -> String {
      _ = takeBlanks()
      var word = String.UnicodeScalarView()
      guard rest.first == "\"" else {
        while let next = rest.first, next != ";" {
          word.append(next)
          rest.removeFirst()
        }
        while let last = word.last, Self.blanks.contains(last) { word.removeLast() }
        return String(word)
      }
      rest.removeFirst()
      wasQuoted = true
      while true {
        guard let next = rest.popFirst() else {
          throw CommandError(.usage, "-F \(name.printable): a quotation mark is not closed.")
        }
        if next == "\"" { return String(word) }
        if next == "\\", rest.first == "\\" || rest.first == "\"", let escaped = rest.popFirst() {
          word.append(escaped)
        } else {
          word.append(next)
        }
      }
    }

    /// `;key=value`; nil at the end.
    mutating func attribute(of name: String) throws(CommandError) -> (key: String, value: String)? {
      _ = takeBlanks()
      guard let mark = rest.popFirst() else { return nil }
      _ = takeBlanks()
      guard mark == ";", let equals = rest.firstIndex(of: "=") else {
        throw CommandError(
          .usage,
          "-F \(name.printable): ;type= or ;filename= is expected after the content. Put quotation marks around a content with a semicolon, or use --form-string."
        )
      }
      let key = String(rest[..<equals]).lowercased()
      rest = rest[rest.index(after: equals)...]
      var value = try word(of: name)
      // A type may have parameters of its own: text/plain;charset=utf-8 (RFC 9110 §8.3.1).
      while key == "type", rest.first == ";", !startsAttribute {
        rest.removeFirst()
        let blanks = takeBlanks()
        value += ";" + blanks + (try word(of: name))
      }
      return (key, value)
    }

    /// C's `isspace`, by which curl goes.
    private static let blanks: Set<Unicode.Scalar> = [" ", "\t", "\n", "\u{b}", "\u{c}", "\r"]

    private mutating func takeBlanks() -> String {
      let taken = rest.prefix { Self.blanks.contains($0) }
      rest.removeFirst(taken.count)
      return String(taken)
    }

    private var startsAttribute: Bool {
      let text = String(rest.dropFirst().drop { $0 == " " || $0 == "\t" }).lowercased()
      return ["type=", "filename=", "encoder=", "headers="].contains { text.hasPrefix($0) }
    }
  }
}
