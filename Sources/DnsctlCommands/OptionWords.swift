// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The words of a command line as the parser understands them; pure functions of the words.
enum OptionWords {
  /// Whether a letter's option of `fetch` has a value.
  static func isValued(_ letter: UInt8) -> Bool { "XHdTubcoCEmxyUADFrw".utf8.contains(letter) }

  private static func isValued(_ letter: Character) -> Bool { letter.asciiValue.map(isValued) ?? false }

  /// Whether a long option has no value; the word after any other one is its value.
  ///
  /// A switch, not a set: the first use of its type takes longer than everything else here.
  static func isFlag(_ name: String, of command: String?) -> Bool {
    switch name {
    case "head", "get", "compressed", "location", "no-location", "insecure", "http1.1", "http2",
      "http2-prior-knowledge", "remote-name", "remote-name-all", "include", "fail", "fail-with-body", "silent",
      "show-error", "verbose", "parallel", "no-system", "no-buffer", "globoff", "help", "version", "ipv4", "ipv6",
      "short", "strict", "reverse", "trace", "yes", "keep-alive", "metrics-remote", "java", "upstream-resolves",
      "log-paths", "log-probes", "serve-metrics", "help-hidden", "experimental-dump-help":
      true
    case "json": command != "fetch"
    default: false
    }
  }

  /// The words as the parser (swift-argument-parser 1.8.2) reads them rightly.
  ///
  /// It takes the next word as the value of `--store=`, which is what a script writes with an unset variable: the empty
  /// value becomes a word of its own. It ends the joined value of a short option at an equals sign, and would show
  /// `-uname:pass=word` in an error message: the short options of `fetch` are taken apart as curl does, `-sSo file`,
  /// `-dx=y`.
  ///
  /// - Parameter words: the arguments, of which the first names the command.
  /// - Returns: the words for the parser.
  /// - Throws: an option without a value that is given an empty one.
  static func separated(_ words: [String]) throws(CommandError) -> [String] {
    let command = words.first
    var result: [String] = []
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" { return result + [word] + rest }
      if word.hasPrefix("--") {
        let name = word.dropFirst(2).prefix { $0 != "=" }
        if let option = optionWithEmptyValue(word) {
          guard !isFlag(String(name), of: command) else {
            throw CommandError(.usage, "\(option.printable) has no value: write it without the equals sign.")
          }
          result += [option, ""]
        } else {
          result.append(word)
          if !word.contains("="), !isFlag(String(name), of: command), let value = rest.popFirst() {
            result.append(value)
          }
        }
      } else if word.hasPrefix("-"), word.count > 1 {
        if command == "fetch" {
          result += letters(of: word, &rest)
        } else {
          result += optionWithEmptyValue(word).map { [$0, ""] } ?? [word]
        }
      } else {
        result.append(word)
      }
    }
    return result
  }

  /// The option in `--name=` and `-n=`; nil for other words.
  private static func optionWithEmptyValue(_ word: String) -> String? {
    guard word.hasSuffix("="), !word.dropLast().contains("="), word.dropLast().contains(where: { $0 != "-" }) else {
      return nil
    }
    return String(word.dropLast())
  }

  private static func letters(of word: String, _ rest: inout ArraySlice<String>) -> [String] {
    var result: [String] = []
    var letters = word.dropFirst()
    while let letter = letters.popFirst() {
      result.append("-\(letter)")
      guard isValued(letter) else { continue }
      if !letters.isEmpty {
        result.append(String(letters))
      } else if let value = rest.popFirst() {
        result.append(value)
      }
      break
    }
    return result
  }

  /// Where the program of `exec` begins: at `--`, or at the first word that is neither an option nor the value of one.
  ///
  /// - Parameter words: the arguments, of which the first is `exec`.
  /// - Returns: the place of that word; the number of words if there is none.
  static func programPlace(in words: [String]) -> Int {
    var place = 1
    while place < words.count {
      let word = words[place]
      guard word != "--", word.hasPrefix("-"), word.count > 1 else { return place }
      let isAlone = !word.hasPrefix("--") || word.contains("=") || isFlag(String(word.dropFirst(2)), of: "exec")
      place += isAlone ? 1 : 2
    }
    return words.count
  }
}
