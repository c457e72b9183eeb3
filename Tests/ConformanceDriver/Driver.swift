import Foundation

/// A JSON object as Foundation reads and writes it.
typealias JSONObject = [String: Any]

/// One verb of the conformance suites: from the input of a case to its result.
typealias Verb = @Sendable (JSONObject) throws -> JSONObject

/// Every verb that the library can answer, from one table per area.
let verbs: [String: Verb] = [
  urlVerbs, policyVerbs, rewritingVerbs, redirectVerbs, cookieVerbs, dnsVerbs,
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

  private static func answer(_ line: String) -> JSONObject {
    guard let read = try? JSONSerialization.jsonObject(with: Data(LoneSurrogates.replaced(in: line).utf8)),
      let question = read as? JSONObject
    else { return ["unsupported": true] }
    var answer: JSONObject = ["unsupported": true]
    if let verb = (question["op"] as? String).flatMap({ verbs[$0] }) {
      do {
        answer = try verb(question["input"] as? JSONObject ?? [:])
      } catch {
        answer = ["ok": false, "error": "\(error)"]
      }
    }
    answer["id"] = question["id"]
    return answer
  }
}
