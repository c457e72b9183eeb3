// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation

/// A JSON object as Foundation reads and writes it.
typealias JSONObject = [String: Any]

/// One verb of the conformance suites: from the input of a case to its result.
typealias Verb = @Sendable (JSONObject) throws -> JSONObject

/// Every verb that the library can answer, from one table per area.
let verbs: [String: Verb] = [
  urlVerbs, policyVerbs, rewritingVerbs, redirectVerbs, cookieVerbs, dnsVerbs, httpVerbs,
].reduce(into: [:]) { all, table in
  all.merge(table) { first, _ in first }
}

/// Answers the conformance cases on standard input, one JSON object a line, in order.
@main
enum Driver {
  static func main() async throws {
    switch CommandLine.arguments.dropFirst().first {
    case "session": return try await Session.run()
    case "fetch": return try await Fetch.run()
    default: break
    }
    while let line = readLine() {
      var answer = try JSONSerialization.data(withJSONObject: answer(line), options: [.sortedKeys])
      answer.append(UInt8(ascii: "\n"))
      // Unbuffered: the runner waits for each answer before it asks on.
      try FileHandle.standardOutput.write(contentsOf: answer)
    }
  }

  /// The answer to a line.
  ///
  /// A line that is no question, a verb that nobody knows and an error that refuses nothing are `crash`, which the
  /// runner counts as a failure whatever the case expects.
  private static func answer(_ line: String) -> JSONObject {
    guard let read = try? JSONSerialization.jsonObject(with: Data(LoneSurrogates.replaced(in: line).utf8)),
      let question = read as? JSONObject, let op = question["op"] as? String,
      let input = question["input"] as? JSONObject
    else { return ["crash": "a line that is no question: \(line.prefix(200))"] }
    var answer: JSONObject
    if let verb = verbs[op] {
      do {
        answer = try verb(input)
      } catch let refusal where Refusal.isOne(refusal) {
        answer = ["ok": false, "error": "\(refusal)"]
      } catch {
        answer = ["crash": "\(error)"]
      }
    } else {
      answer = ["crash": "an unknown verb: \(op)"]
    }
    answer["id"] = question["id"]
    return answer
  }
}

/// The errors with which the library says that it does not take what it was given.
enum Refusal {
  private static let codes: Set<DirectDNSError.Code> = [
    .invalidName, .invalidURL, .invalidRequest, .addressForbidden, .refused, .tooManyRedirects, .redirectRefused,
    .bodyNotReplayable,
  ]

  static func isOne(_ error: any Error) -> Bool {
    switch error {
    case let error as DirectDNSError: codes.contains(error.code)
    case is DNSMessageError, is ProviderFailure, is CookieRejection: true
    default: false
    }
  }
}

/// A case lacks a field that its verb needs, or has something else there.
struct MissingField: Error {
  let name: String
}

/// The text of a field of a case's input.
func text(_ input: JSONObject, _ name: String) throws -> String {
  guard let text = input[name] as? String else { throw MissingField(name: name) }
  return text
}
