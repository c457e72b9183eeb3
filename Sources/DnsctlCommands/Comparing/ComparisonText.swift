// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The result of comparing one name.
struct ComparisonOutcome: Sendable {
  /// The comparison of the addresses of one family.
  struct Part: Sendable {
    var type: DNSRecordType
    var comparison: Comparison
  }

  /// The name as it was asked for.
  var host: String
  /// A comparison for each family, or why there is none.
  var result: Result<[Part], DirectDNSError>

  /// The highest status of the families; a missing address of one family does not count if the other one has some.
  func status(isStrict: Bool) -> ExitStatus {
    switch result {
    case .failure(let error): return ExitStatus(error)
    case .success(let parts):
      let statuses = parts.map { $0.comparison.status(isStrict: isStrict) }
      let counted = statuses.contains(.answered) ? statuses.filter { $0 != .noAnswer } : statuses
      return counted.reduce(.answered) { $0.joined($1) }
    }
  }

  /// The output for it.
  func rendered(isJSON: Bool, _ layout: ComparisonText) -> RenderedOutcome {
    switch result {
    case .success(let parts):
      let texts = parts.map { part in
        isJSON
          ? JSONLine(host, part.type, part.comparison, error: nil).text : layout.text(host, part.type, part.comparison)
      }
      return RenderedOutcome(output: texts.joined())
    case .failure(let error) where isJSON:
      return RenderedOutcome(output: JSONLine(host, nil, nil, error: error).text)
    case .failure(let error): return RenderedOutcome(errors: ErrorText.lines(host, error))
    }
  }
}

/// A comparison as text for people: a line for each address with the remarks about it, and a conclusion.
struct ComparisonText: Sendable {
  let style: TextStyle

  func text(_ host: String, _ type: DNSRecordType, _ comparison: Comparison) -> String {
    var table = ColumnTable()
    for (answer, remarks) in zip(comparison.answers, comparison.remarks) {
      let texts = answer.negative.map { [$0] } ?? answer.addresses.map(\.description)
      for (index, text) in texts.enumerated() {
        guard index == 0 else {
          table.add([TableCell(""), TableCell(text), TableCell(""), TableCell(""), TableCell("")])
          continue
        }
        let isOdd = remarks.contains(where: \.kind.isDisagreement)
        table.add([
          TableCell("  " + answer.source) { style.bold($0) }, TableCell(text) { isOdd ? style.failure($0) : $0 },
          TableCell(answer.ttl.map { "ttl \($0) s" } ?? ""), TableCell(answer.elapsed.readable) { style.dim($0) },
          TableCell(remarks.map(\.text).joined(separator: "; ")) { isOdd ? style.failure($0) : style.warning($0) },
        ])
      }
    }
    return "\(style.bold(host.printable))  \(type)\n\(table.text)  \(conclusion(comparison))\n"
  }

  private func conclusion(_ comparison: Comparison) -> String {
    switch comparison.verdict {
    case .unanswered:
      let only = comparison.answers.first { !$0.hasFailed }
      return style.failure(only.map { "Only \($0.source.printable) answered." } ?? "Nobody answered.")
    case .agree:
      return style.good(
        comparison.answers.contains(where: \.hasFailed) ? "Those that answered agree." : "They agree.")
    case .differ: return style.warning("They differ, as they may.")
    case .disagree:
      return style.failure(
        "They disagree: see " + comparison.dissenters.map(\.printable).joined(separator: ", ") + ".")
    }
  }
}

extension JSONLine {
  /// A comparison of one family, or why there is none.
  init(_ host: String, _ type: DNSRecordType?, _ comparison: Comparison?, error: DirectDNSError?) {
    self.init()
    add("host", Self.string(host))
    add("type", type.map { Self.string("\($0)") })
    add("verdict", comparison.map { "\"\($0.verdict.rawValue)\"" })
    add("answers", comparison.map { Self.array(zip($0.answers, $0.remarks).map(Self.answer)) })
    add("error", error.map(Self.object))
  }

  private static func answer(_ answer: SourceAnswer, _ remarks: [Comparison.Remark]) -> String {
    var line = JSONLine()
    line.add("source", string(answer.source))
    line.add("addresses", answer.hasFailed ? nil : array(answer.addresses.map { "\"\($0)\"" }))
    line.add("nameExists", answer.nameExists.map { "\($0)" })
    line.add("ttl", answer.ttl.map { "\($0)" })
    line.add("authenticated", answer.isAuthenticated.map { "\($0)" })
    line.add("elapsedMs", answer.elapsed.milliseconds)
    if case .failed(let reason) = answer.content { line.add("error", string(reason)) } else { line.add("error", nil) }
    line.add(
      "remarks",
      array(
        remarks.map { remark in
          var line = JSONLine()
          line.add("kind", "\"\(remark.kind.rawValue)\"")
          line.add("disagrees", "\(remark.kind.isDisagreement)")
          line.add("text", string(remark.text))
          return line.object
        }))
    return line.object
  }
}
