// SPDX-License-Identifier: Apache-2.0
/// Short options as curl takes them, `-sSo file`, `-dx=y`, one by one, as the parser of the command line takes them.
///
/// The parser's own reading ends a joined value at an equals sign, and would complain of `-uname:pass=word` by showing it.
enum ShortOptions {
  /// Those that have a value.
  private static let valued = Set("XHdTubcoCEmxyUADFrw")

  /// Whether a letter's option has a value.
  static func isValued(_ letter: UInt8) -> Bool { valued.contains(Character(UnicodeScalar(letter))) }

  /// Long ones that have none; the word behind any other is its value, and left alone.
  private static let flags: Set<String> = [
    "head", "get", "compressed", "location", "no-location", "insecure", "http1.1", "http2", "http2-prior-knowledge",
    "remote-name", "remote-name-all", "include", "fail", "silent", "show-error", "verbose", "parallel", "no-system",
    "no-buffer", "globoff", "help", "version", "ipv4", "ipv6",
  ]

  /// The words of a command line, those of `fetch` taken apart.
  static func separated(_ words: [String]) -> [String] {
    guard words.first == "fetch" else { return words }
    var result: [String] = []
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" { return result + [word] + rest }
      if word.hasPrefix("--") {
        result.append(word)
        if !word.contains("="), !flags.contains(String(word.dropFirst(2))), let value = rest.popFirst() {
          result.append(value)
        }
      } else if word.hasPrefix("-"), word.count > 1 {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
          result.append("-\(letter)")
          guard valued.contains(letter) else { continue }
          if !letters.isEmpty {
            result.append(String(letters))
          } else if let value = rest.popFirst() {
            result.append(value)
          }
          break
        }
      } else {
        result.append(word)
      }
    }
    return result
  }
}
