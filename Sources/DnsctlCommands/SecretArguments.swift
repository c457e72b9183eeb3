// SPDX-License-Identifier: Apache-2.0
/// Which bytes of a command line are secrets: a pure function.
///
/// The system shows a process's arguments to all users (proc(5), ps(1)) for as long as it runs.
enum SecretArguments {
  /// Which part of a value is secret.
  private enum Kind {
    /// All of it.
    case whole
    /// What follows the first colon: `user:password`, `Name: value`.
    case afterColon
    /// What follows the first colon that no backslash escapes: `file:password`.
    case afterPlainColon
    /// What follows the first equals sign: `name=content`; a file's name is not secret.
    case afterEquals
    /// The user info of a URL; it never includes a part of the path.
    case userInfo
    /// A URL's user info and its query, which may contain keys.
    case userInfoAndQuery
    /// Cookies, unless it is the name of a file.
    case cookies
  }

  // Switches, not dictionaries: the first use of a dictionary type takes as long as everything else here.
  private static func kind(long name: String) -> Kind? {
    switch name {
    case "user", "proxy-user", "header": .afterColon
    case "cert": .afterPlainColon
    case "pass", "data", "data-ascii", "data-raw", "data-binary", "data-urlencode", "json": .whole
    case "form", "form-string": .afterEquals
    case "proxy", "upstream", "store": .userInfo
    case "provider": .userInfoAndQuery
    case "cookie": .cookies
    default: nil
    }
  }

  private static func kind(short letter: UInt8) -> Kind? {
    switch letter {
    case UInt8(ascii: "u"), UInt8(ascii: "U"), UInt8(ascii: "H"): .afterColon
    case UInt8(ascii: "E"): .afterPlainColon
    case UInt8(ascii: "x"): .userInfo
    case UInt8(ascii: "b"): .cookies
    case UInt8(ascii: "d"): .whole
    case UInt8(ascii: "F"): .afterEquals
    default: nil
    }
  }

  /// The secret bytes of each word, as ranges of offsets; the words do not include the program's name.
  static func ranges(in words: [[UInt8]]) -> [Range<Int>] {
    var result = words.map { _ in 0..<0 }
    let hasShort = words.first == Array("fetch".utf8)
    var place = 0
    var options = true
    while place < words.count {
      defer { place += 1 }
      let word = words[place]
      guard options, word.first == hyphen, word.count > 1 else {
        // A server's URL among the arguments may have a key in its query, like one of --provider.
        result[place] = secret(of: word.first == UInt8(ascii: "@") ? .userInfoAndQuery : .userInfo, in: word, from: 0)
        continue
      }
      if word == [hyphen, hyphen] {
        options = false
      } else if word[1] == hyphen {
        let equals = word.firstIndex(of: UInt8(ascii: "="))
        let name = String(decoding: word[2..<(equals ?? word.count)], as: UTF8.self)
        // With other commands --json is the output format, and has no value.
        guard let kind = Self.kind(long: name), hasShort || name != "json" else { continue }
        if let equals {
          result[place] = secret(of: kind, in: word, from: equals + 1)
        } else if place + 1 < words.count {
          place += 1
          result[place] = secret(of: kind, in: words[place], from: 0)
        }
      } else if hasShort {
        // The value of the first letter that takes one is the rest of the word, or else the next word.
        guard let letter = word.indices.dropFirst().first(where: { OptionWords.isValued(word[$0]) }) else { continue }
        let isJoined = letter + 1 < word.count
        guard isJoined || place + 1 < words.count else { continue }
        if !isJoined { place += 1 }
        guard let kind = Self.kind(short: word[letter]) else { continue }
        result[place] = secret(of: kind, in: words[place], from: isJoined ? letter + 1 : 0)
      }
    }
    return result
  }

  private static let hyphen = UInt8(ascii: "-")
  private static let colon = UInt8(ascii: ":")

  private static func secret(of kind: Kind, in word: [UInt8], from start: Int) -> Range<Int> {
    let value = word[start...]
    let none = start..<start
    // A file's name is not secret.
    if value.first == UInt8(ascii: "@"), kind != .userInfoAndQuery { return none }
    switch kind {
    case .whole: return start..<word.count
    case .cookies: return value.contains(UInt8(ascii: "=")) ? start..<word.count : none
    case .afterColon: return value.firstIndex(of: colon).map { $0 + 1..<word.count } ?? none
    case .afterPlainColon:
      var isEscaped = false
      for index in value.indices {
        if !isEscaped, value[index] == colon { return index + 1..<word.count }
        isEscaped = !isEscaped && value[index] == UInt8(ascii: "\\")
      }
      return none
    case .afterEquals:
      guard let equals = value.firstIndex(of: UInt8(ascii: "=")) else { return none }
      let mark = equals + 1 < value.endIndex ? value[equals + 1] : 0
      return mark == UInt8(ascii: "@") || mark == UInt8(ascii: "<") ? none : equals + 1..<word.count
    case .userInfo: return userInfo(of: value) ?? none
    case .userInfoAndQuery:
      let query = value.firstIndex(of: UInt8(ascii: "?")).map { $0 + 1 }
      guard let user = userInfo(of: value) else { return query.map { $0..<word.count } ?? none }
      return user.lowerBound..<(query == nil ? user.upperBound : word.count)
    }
  }

  /// The secret part of the user info before the last `@` of a URL's authority: the password, or all of it if there is
  /// no password.
  private static func userInfo(of value: ArraySlice<UInt8>) -> Range<Int>? {
    let slash = UInt8(ascii: "/")
    let slashes = zip(value.indices, value.indices.dropFirst()).first { value[$0] == slash && value[$1] == slash }
    let start = slashes.map { $0.1 + 1 } ?? value.startIndex
    let authority = value[start...].prefix { $0 != slash && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return nil }
    let first = authority[..<at].firstIndex(of: colon).map { $0 + 1 } ?? start
    return first..<at
  }
}
