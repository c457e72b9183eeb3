// SPDX-License-Identifier: Apache-2.0
/// What is said of an option that is another tool's: functions of the parser's words.
enum UnknownOption {
  /// Says what to write in place of an option.
  ///
  /// - Parameters:
  ///   - message: what the parser says of a command line.
  ///   - command: the command.
  /// - Returns: what to write instead; nil where the parser's words are the best that there are.
  static func objection(in message: String, of command: String?) -> String? {
    let start = "Error: Unknown option '"
    guard message.hasPrefix(start) else { return nil }
    let option = String(message.dropFirst(start.count).prefix { $0 != "'" })
    switch command {
    case "fetch":
      return CurlHabit.advice(on: option).map { "curl's \(option) is not offered: \($0). See dnsctl fetch --help." }
    case "resolve":
      return DigHabit.advice(on: option).map { "\(option) is no option here: \($0). See dnsctl resolve --help." }
    default: return nil
    }
  }
}
