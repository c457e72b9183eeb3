// SPDX-License-Identifier: Apache-2.0
/// The message about an argument of a command that takes none; a pure function of the parser's message.
enum UnexpectedArgument {
  /// Says which option has what was meant.
  ///
  /// The argument is not repeated: a URL may have a password in it.
  ///
  /// - Parameters:
  ///   - message: the parser's message.
  ///   - command: the command.
  /// - Returns: what to write instead; nil if the parser's message is good enough.
  static func objection(in message: String, of command: String?) -> String? {
    let isOne = message.hasPrefix("Error: Unexpected argument '")
    guard isOne || message.hasPrefix("Error: ") && message.contains(" unexpected arguments: '"),
      let command, let advice = advice(for: command)
    else { return nil }
    return "\(command) takes no arguments: \(advice). See dnsctl \(command) --help."
  }

  private static func advice(for command: String) -> String? {
    switch command {
    case "check": "--name NAME is the name that is asked for, --proxy URL the proxy that is checked"
    case "proxy": "--listen ADDRESS:PORT says where it listens"
    case "restore": "responses come from standard input"
    default: nil
    }
  }
}
