// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

private typealias Status = DnsctlCommands.ExitStatus

struct ComparisonTests {
  /// One source's answer: addresses with blanks between, `nx`, `none`, `nothing` or `failed`; a `+` in front says that it is
  /// authenticated, a `-` that it is not.
  private static func answer(_ index: Int, _ text: String) -> SourceAnswer {
    let flag = text.first.flatMap { "+-".contains($0) ? $0 : nil }
    let words = text.drop { "+-".contains($0) }
    let content: SourceAnswer.Content =
      switch words {
      case "nx": .nameNotFound
      case "none": .noAddress
      case "nothing": .nothing
      case "failed": .failed("timed out")
      default: .addresses(words.split(separator: " ").compactMap { IPAddress(String($0)) })
      }
    return SourceAnswer(
      source: "s\(index)", content: content, ttl: 60, isAuthenticated: flag.map { $0 == "+" }, elapsed: .zero)
  }

  private static func comparison(_ texts: [String]) -> Comparison {
    Comparison(texts.enumerated().map { answer($0.offset, $0.element) })
  }

  /// The answers, the remarks of each, the exit status, and the strict one.
  private struct Case: Sendable, CustomTestStringConvertible {
    var answers: [String]
    var remarks: [String]
    var verdict: Comparison.Verdict
    fileprivate var status: Status
    fileprivate var strict: Status?

    var testDescription: String { answers.joined(separator: " | ") }
  }

  private static let cases: [Case] = [
    Case(answers: ["8.8.8.8", "8.8.8.8", "8.8.8.8"], remarks: ["", "", ""], verdict: .agree, status: .answered),
    Case(answers: ["8.8.8.8 8.8.4.4", "8.8.4.4"], remarks: ["", ""], verdict: .agree, status: .answered),
    // A site's other servers, in one network and in others.
    Case(answers: ["8.8.8.8", "8.8.9.9"], remarks: ["", ""], verdict: .agree, status: .answered),
    Case(
      answers: ["8.8.8.8", "8.8.9.9", "9.9.9.9"], remarks: ["", "", "otherNetwork"], verdict: .differ,
      status: .answered, strict: .disagreement),
    Case(
      answers: ["8.8.8.8", "9.9.9.9"], remarks: ["otherNetwork", "otherNetwork"], verdict: .differ, status: .answered,
      strict: .disagreement),
    Case(answers: ["8.8.8.8", "9.9.9.9 8.8.1.1"], remarks: ["", ""], verdict: .agree, status: .answered),
    Case(answers: ["2a00:1450::1", "2a00:1450:1::1"], remarks: ["", ""], verdict: .agree, status: .answered),
    // Lies, blocks, views of one's own.
    Case(
      answers: ["8.8.8.8", "8.8.8.8", "10.0.0.1"], remarks: ["", "", "notPublic otherNetwork"], verdict: .disagree,
      status: .disagreement),
    Case(
      answers: ["8.8.8.8", "8.8.8.8 127.0.0.1"], remarks: ["", "notPublic"], verdict: .disagree, status: .disagreement),
    Case(
      answers: ["8.8.8.8", "0.0.0.0"], remarks: ["otherNetwork", "notPublic otherNetwork"], verdict: .disagree,
      status: .disagreement),
    Case(
      answers: ["10.0.0.1", "10.0.0.2"], remarks: ["notPublic", "notPublic"], verdict: .disagree, status: .disagreement),
    // A public name of a private address, as everybody has it.
    Case(answers: ["127.0.0.1", "127.0.0.1"], remarks: ["", ""], verdict: .agree, status: .answered),
    // One that nobody else has an opinion on.
    Case(answers: ["10.0.0.1", "failed"], remarks: ["", ""], verdict: .unanswered, status: .upstreamFailed),
    // There is none, says one.
    Case(
      answers: ["8.8.8.8", "8.8.8.8", "nx"], remarks: ["", "", "noAnswer"], verdict: .disagree, status: .disagreement),
    Case(answers: ["8.8.8.8", "none"], remarks: ["", "noAnswer"], verdict: .disagree, status: .disagreement),
    Case(answers: ["nx", "none", "8.8.8.8"], remarks: ["", "", "answer"], verdict: .disagree, status: .disagreement),
    Case(
      answers: ["nx", "nx", "10.0.0.1"], remarks: ["", "", "answer notPublic"], verdict: .disagree,
      status: .disagreement),
    // A filter's address against the truth: the filter is named, however many it has on its side.
    Case(answers: ["0.0.0.0", "nx"], remarks: ["answer notPublic", ""], verdict: .disagree, status: .disagreement),
    Case(
      answers: ["0.0.0.0", "0.0.0.0", "nx"], remarks: ["answer notPublic", "answer notPublic", ""], verdict: .disagree,
      status: .disagreement),
    Case(answers: ["nx", "nx"], remarks: ["", ""], verdict: .agree, status: .noAnswer),
    Case(answers: ["none", "none"], remarks: ["", ""], verdict: .agree, status: .noAnswer),
    Case(
      answers: ["nx", "none", "none"], remarks: ["otherDenial", "", ""], verdict: .differ, status: .noAnswer,
      strict: .disagreement),
    // Who does not say why there is nothing contradicts nobody who does.
    Case(answers: ["nothing", "nx"], remarks: ["", ""], verdict: .agree, status: .noAnswer),
    Case(answers: ["nothing", "none"], remarks: ["", ""], verdict: .agree, status: .noAnswer),
    Case(
      answers: ["nothing", "none", "nx"], remarks: ["", "", "otherDenial"], verdict: .differ, status: .noAnswer,
      strict: .disagreement),
    Case(answers: ["8.8.8.8", "nothing"], remarks: ["", "noAnswer"], verdict: .disagree, status: .disagreement),
    // Who says nothing says nothing against the others.
    Case(answers: ["8.8.8.8", "failed", "8.8.8.8"], remarks: ["", "", ""], verdict: .agree, status: .upstreamFailed),
    Case(
      answers: ["8.8.8.8", "failed", "nx"], remarks: ["", "", "noAnswer"], verdict: .disagree, status: .disagreement),
    Case(answers: ["failed", "failed"], remarks: ["", ""], verdict: .unanswered, status: .upstreamFailed),
    Case(answers: [], remarks: [], verdict: .unanswered, status: .noAnswer),
    // DNSSEC: many never validate.
    Case(
      answers: ["+8.8.8.8", "-8.8.8.8", "8.8.8.8"], remarks: ["authenticated", "", ""], verdict: .differ,
      status: .answered, strict: .disagreement),
    Case(answers: ["+8.8.8.8", "+8.8.8.8", "8.8.8.8"], remarks: ["", "", ""], verdict: .agree, status: .answered),
    Case(answers: ["-8.8.8.8", "-8.8.8.8"], remarks: ["", ""], verdict: .agree, status: .answered),
  ]

  @Test(arguments: cases)
  private func `what sources say of one another`(_ sample: Case) {
    let comparison = Self.comparison(sample.answers)
    #expect(comparison.remarks.map { $0.map(\.kind.rawValue).joined(separator: " ") } == sample.remarks)
    #expect(comparison.verdict == sample.verdict)
    #expect(comparison.status(isStrict: false) == sample.status)
    #expect(comparison.status(isStrict: true) == sample.strict ?? sample.status)
  }

  @Test func `those that disagree are named`() {
    let comparison = Self.comparison(["8.8.8.8", "nx", "10.0.0.1 8.8.8.8"])
    #expect(comparison.dissenters == ["s1", "s2"])
    #expect(
      comparison.remarks[2].map(\.text) == ["10.0.0.1 is not a public address (Private-Use), and not everybody has it"])
  }

  @Test(arguments: [
    (["8.8.8.8 | 8.8.8.8", "none | none"], Status.answered), (["none | none", "nx | nx"], .noAnswer),
    (["8.8.8.8 | nx", "none | none"], .disagreement), (["none | none", "failed | none"], .upstreamFailed),
  ])
  fileprivate func `a name that has addresses of one family is answered`(_ families: [String], _ status: Status) {
    let parts = families.map { text in
      ComparisonOutcome.Part(
        type: .a, comparison: Self.comparison(text.split(separator: " | ").map(String.init)))
    }
    #expect(ComparisonOutcome(host: "a", result: .success(parts)).status(isStrict: false) == status)
  }

  @Test func `text has a line an address, and what is odd about it`() {
    let text = ComparisonText(style: TextStyle(isOn: false)).text(
      "a.example", .a, Self.comparison(["8.8.8.8 8.8.4.4", "nx", "failed"]))
    #expect(
      text == """
        a.example  A
          s0  8.8.8.8                  ttl 60 s  0.0 ms
              8.8.4.4
          s1  the name does not exist  ttl 60 s  0.0 ms  others have addresses
          s2  timed out                ttl 60 s  0.0 ms
          They disagree: see s1.

        """)
  }

  @Test(arguments: [
    (["8.8.8.8", "8.8.8.8"], "They agree."), (["8.8.8.8", "failed", "8.8.8.8"], "Those that answered agree."),
    (["8.8.8.8", "failed"], "Only s0 answered."),
    (["failed", "failed"], "Nobody answered."), (["8.8.8.8", "9.9.9.9"], "They differ, as they may."),
  ])
  func `and a word about all of it`(_ answers: [String], _ word: String) {
    let text = ComparisonText(style: TextStyle(isOn: false)).text("a.example", .a, Self.comparison(answers))
    #expect(text.hasSuffix("  \(word)\n"), "\(text)")
  }
}
