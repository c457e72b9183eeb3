// SPDX-License-Identifier: Apache-2.0
/// Splits short options in curl's style, `-sSo file`, `-dx=y`, into single ones for the command line parser.
///
/// The parser itself ends a joined value at an equals sign, and would show `-uname:pass=word` in an error message.
enum ShortOptions {
  /// The options that have a value.
  private static let valued = Set("XHdTubcoCEmxyUADFrw")

  /// Whether a letter's option has a value.
  static func isValued(_ letter: UInt8) -> Bool { valued.contains(Character(UnicodeScalar(letter))) }

  /// Long options without a value; the word after any other one is its value, and left alone.
  private static let flags: Set<String> = [
    "head", "get", "compressed", "location", "no-location", "insecure", "http1.1", "http2", "http2-prior-knowledge",
    "remote-name", "remote-name-all", "include", "fail", "silent", "show-error", "verbose", "parallel", "no-system",
    "no-buffer", "globoff", "help", "version", "ipv4", "ipv6",
  ]

  /// The words of a command line; those of `fetch` are split.
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
