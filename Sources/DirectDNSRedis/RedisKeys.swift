// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// What things are called on the server.
struct RedisKeys: Sendable, Hashable {
  let prefix: String

  private var answers: String { "\(prefix)answer:\(StoredAnswer.textVersion):" }

  func answer(_ question: AddressQuestion) -> String { "\(answers)\(question.type):\(question.host)" }

  func lease(_ question: AddressQuestion) -> String { "\(prefix)lease:\(question.type):\(question.host)" }

  /// The question whose answer has that key; nil for a key that no question has.
  func question(_ key: String) -> AddressQuestion? {
    guard key.hasPrefix(answers) else { return nil }
    let parts = key.dropFirst(answers.count).split(separator: ":", maxSplits: 1)
    guard parts.count == 2, let host = try? HostName(String(parts[1])) else { return nil }
    return IPAddress.Family.allCases.map { AddressQuestion(host, $0) }.first { answer($0) == key }
  }

  /// Matches the keys of all answers, and nothing else: a prefix may hold what SCAN takes for a wildcard.
  var pattern: String {
    // By scalars: a star with a combining mark is one character to Swift, and a star to Redis.
    let special: Set<Unicode.Scalar> = ["*", "?", "[", "]", "\\", "^"]
    return answers.unicodeScalars.reduce(into: "") { $0 += special.contains($1) ? "\\\($1)" : "\($1)" } + "*"
  }
}
