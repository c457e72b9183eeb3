// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A file of the project: its path from the project's root, and its text.
struct SourceFile {
  var path: String
  var text: String
  /// The text without comments and literals.
  var code: String
  var identifiers: [SwiftText.Identifier]

  init(path: String, text: String) {
    self.path = path
    self.text = text
    code = SwiftText.code(of: text)
    identifiers = SwiftText.identifiers(in: code)
  }

  /// The file's name without its folders: `HostName.swift`.
  var name: String { String(path.split(separator: "/").last ?? "") }

  /// The folder of the library that the file stands in, if it is a file of the library: `Model`.
  var floor: String? {
    let parts = path.split(separator: "/")
    guard parts.count > 3, path.hasPrefix("Sources/DirectDNS/") else { return nil }
    return String(parts[2])
  }

  /// The modules that the file imports, each with its line.
  var imports: [(module: String, line: Int)] {
    let kinds: Set<Substring> = [
      "struct", "class", "enum", "protocol", "typealias", "func", "let", "var", "actor",
    ]
    return identifiers.indices.compactMap { index in
      guard identifiers[index].name == "import", identifiers[index].depth == 0 else { return nil }
      var next = identifiers.index(after: index)
      if next < identifiers.endIndex, kinds.contains(identifiers[next].name) { next += 1 }
      guard next < identifiers.endIndex else { return nil }
      return (String(identifiers[next].name), identifiers[index].line)
    }
  }

  /// The names of the types that the file declares.
  ///
  /// - Parameter visibleOutside: Only those another file can name as they are: at file level, not private.
  /// - Returns: The bare names.
  func declaredTypes(visibleOutside: Bool) -> Set<Substring> {
    let keywords: Set<Substring> = ["struct", "class", "enum", "protocol", "actor", "typealias"]
    let modifiers: Set<Substring> = [
      "final", "indirect", "nonisolated", "public", "package", "internal", "open",
    ]
    var types: Set<Substring> = []
    for index in identifiers.indices.dropFirst() {
      let keyword = identifiers[index - 1]
      guard keywords.contains(keyword.name), keyword.preceding != ".",
        identifiers[index].name.first?.isUppercase == true
      else { continue }
      if visibleOutside {
        let before = identifiers[..<(index - 1)].last { !modifiers.contains($0.name) }?.name
        guard keyword.depth == 0, before != "private", before != "fileprivate" else { continue }
      }
      types.insert(identifiers[index].name)
    }
    return types
  }

  /// Whether a comment stands on the line, or in the lines right above it up to a blank one.
  func isExplained(line: Int) -> Bool {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let own = min(line - 1, lines.count - 1)
    for index in stride(from: own, through: max(0, own - 4), by: -1) {
      if lines[index].allSatisfy(\.isWhitespace) { return false }
      if lines[index].contains("//") { return true }
    }
    return false
  }
}

/// The project's files as text.
struct SourceTree {
  var files: [SourceFile]

  /// A made-up tree, for the tests of the rules.
  init(_ texts: KeyValuePairs<String, String>) {
    files = texts.map { SourceFile(path: $0.key, text: $0.value) }
  }

  /// The Swift files under the given folders of the project; a folder that is not there has none.
  ///
  /// Of the files under `pathsOnly` the rules ask no more than where they are: they are not read.
  init(root: URL, folders: [String], pathsOnly: [String]) throws {
    files = []
    for folder in folders + pathsOnly {
      let paths = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
      while let path = paths?.nextObject() as? String {
        guard path.hasSuffix(".swift") else { continue }
        let file = root.appending(path: "\(folder)/\(path)")
        let text = folders.contains(folder) ? try String(contentsOf: file, encoding: .utf8) : ""
        files.append(SourceFile(path: "\(folder)/\(path)", text: text))
      }
    }
    files.sort { $0.path < $1.path }
  }

  func files(under prefix: String) -> [SourceFile] {
    files.filter { $0.path.hasPrefix(prefix) }
  }
}
