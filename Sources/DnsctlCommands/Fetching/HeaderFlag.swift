// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import HTTPTypes

/// A `-H`: a field to send, or one to leave out.
enum HeaderFlag: Sendable, Hashable {
  case send(HTTPField)
  case leaveOut(HTTPField.Name)

  /// Reads `Name: value`, `Name:` and `Name;`.
  ///
  /// - Parameters:
  ///   - line: the text.
  ///   - place: where it stands, for errors: the text may be a secret.
  /// - Throws: what is wrong with it.
  init(_ line: String, at place: String) throws(CommandError) {
    // By code points: a combining mark after the sign would hide it from `Character`.
    let end = line.unicodeScalars.firstIndex { $0 == ":" || $0 == ";" }
    guard let end, let name = HTTPField.Name(String(line[..<end])) else {
      throw CommandError(.usage, "-H\(place): this is not a field. Write 'Name: value', 'Name:' or 'Name;'.")
    }
    let value = Substring(line.unicodeScalars[line.unicodeScalars.index(after: end)...]).trimmed
    if line.unicodeScalars[end] == ";" {
      guard value.isEmpty else {
        throw CommandError(.usage, "-H \(name.rawName): 'Name;' is an empty field; write 'Name: value' for a value.")
      }
      self = .send(HTTPField(name: name, value: ""))
    } else if value.isEmpty {
      self = .leaveOut(name)
    } else {
      guard HTTPField.isValidValue(String(value)) else {
        throw CommandError(.usage, "-H \(name.rawName): the value has a character that no header field may have.")
      }
      self = .send(HTTPField(name: name, value: String(value)))
    }
  }

  /// Whether it is a `Content-Type` with a boundary.
  var namesBoundary: Bool {
    guard case .send(let field) = self, field.name == .contentType else { return false }
    return field.value.lowercased().contains("boundary=")
  }

  /// Reads all values of the option, and the files that they name.
  static func read(
    _ texts: [String], readFile: (String) throws(StreamError) -> [UInt8]?
  ) throws(CommandError) -> [HeaderFlag] {
    var flags: [HeaderFlag] = []
    for (index, text) in texts.enumerated() {
      guard text.hasPrefix("@") else {
        flags.append(try HeaderFlag(text, at: texts.count > 1 ? " number \(index + 1) of \(texts.count)" : ""))
        continue
      }
      let bytes = try InputFile.read(String(text.dropFirst()), for: "-H", by: readFile)
      let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      for (number, line) in lines.enumerated() {
        let place = " \(text.printable), line \(number + 1)"
        guard let text = String(validating: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
        else { throw CommandError(.usage, "-H\(place): it is not UTF-8.") }
        guard !text[...].trimmed.isEmpty else { continue }
        flags.append(try HeaderFlag(text, at: place))
      }
    }
    return flags
  }
}

extension HTTPFields {
  /// Applies `-H`: a field that is sent replaces ours, a field that is left out is removed.
  func applying(_ flags: [HeaderFlag]) -> HTTPFields {
    var fields = self
    for case .leaveOut(let name) in flags { fields[name] = nil }
    for case .send(let field) in flags { fields[field.name] = nil }
    for case .send(let field) in flags { fields.append(field) }
    return fields
  }

  /// Adds the boundary to `Content-Type`, also to one that `-H` has given.
  func naming(_ boundary: String?) -> HTTPFields {
    guard let boundary, let type = self[.contentType], !type.contains("boundary=") else { return self }
    var fields = self
    fields[.contentType] = "\(type); boundary=\(boundary)"
    return fields
  }
}
