// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser

/// The message about an option of another tool; pure functions of the parser's message.
enum UnknownOption {
  /// How the parser's message begins.
  private static let start = "Error: Unknown option '"

  /// Suggests what to write in place of an option.
  ///
  /// - Parameters:
  ///   - message: the parser's message.
  ///   - command: the command.
  /// - Returns: what to write instead; nil if the parser's message is good enough.
  static func objection(in message: String, of command: String?) -> String? {
    guard message.hasPrefix(start) else { return nil }
    let option = String(message.dropFirst(start.count).prefix { $0 != "'" })
    switch command {
    case "fetch":
      return CurlHints.advice(on: option).map { "curl's \(option) is not offered: \($0). See dnsctl fetch --help." }
    case let command?:
      let advice = command == "resolve" ? DigHints.advice(on: option) : advice(on: option, of: command)
      return advice.map { "\(option) is not an option here: \($0). See dnsctl \(command) --help." }
    case nil: return nil
    }
  }

  /// What to write in place of an option that other proxies and lists of names have; nil for any other.
  private static func advice(on option: String, of command: String) -> String? {
    switch (command, option) {
    // The parser would suggest --ports, which says where requests may go.
    case ("proxy", "--port"), ("proxy", "-p"), ("proxy", "--bind"), ("proxy", "--host"), ("proxy", "--address"):
      "--listen ADDRESS:PORT says where it listens"
    case ("proxy", "--user"), ("proxy", "-u"), ("proxy", "--auth"), ("proxy", "--password"):
      "--users FILE or --token @FILE says who may use it"
    case ("proxy", "--verbose"), ("proxy", "-v"), ("proxy", "--log"), ("proxy", "--log-file"):
      "--access-log json writes a line for each request to standard output"
    case ("exec", "--port"), ("exec", "-p"), ("exec", "--listen"):
      "its proxy takes a free port, and dnsctl proxy has --listen"
    case ("exec", "--verbose"), ("exec", "-v"), ("exec", "--trace"), ("exec", "--access-log"):
      "dnsctl proxy --access-log json shows each request"
    case ("warmup", "--file"), ("warmup", "--list"), ("warmup", "--input"), ("warmup", "-i"):
      "--hosts FILE has names, one a line"
    default: nil
    }
  }

  /// Finds the option that does not exist on a command line that lacks an argument besides.
  ///
  /// The parser tells of the missing argument first, which leaves a misspelt option unnamed: `dnsctl fetch --hlep`.
  ///
  /// - Parameters:
  ///   - message: the parser's message.
  ///   - words: the arguments.
  ///   - root: the program.
  /// - Returns: the parser's error about the option; nil if it has another one.
  static func error(
    behind message: String, in words: [String], of root: any ParsableCommand.Type
  ) -> (any Error)? {
    guard message.hasPrefix("Error: Missing expected argument '") else { return nil }
    do { _ = try root.parseAsRoot(words + ["x"]) } catch {
      return root.fullMessage(for: error).hasPrefix(start) ? error : nil
    }
    return nil
  }

  /// Takes a suggestion out of the parser's message that is too far from what was written: an option of another tool is
  /// no misspelling of one here.
  ///
  /// - Parameter message: the parser's message.
  /// - Returns: the same, or without the suggestion.
  static func withoutFarSuggestion(_ message: String) -> String {
    let (middle, end) = ("'. Did you mean '", "'?")
    guard message.hasPrefix(start), let between = message.firstRange(of: middle),
      let behind = message[between.upperBound...].firstRange(of: end)
    else { return message }
    let written = message[..<between.lowerBound].dropFirst(start.count).drop { $0 == "-" }
    let suggested = message[between.upperBound..<behind.lowerBound].drop { $0 == "-" }
    guard UnknownCommand.distance(written.utf8, suggested.utf8) * 3 > written.utf8.count else { return message }
    return "\(message[..<between.lowerBound])'\(message[behind.upperBound...])"
  }
}
