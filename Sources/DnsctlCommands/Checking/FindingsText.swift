// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Findings as text for people: a line each, and what to do below it.
struct FindingsText: Sendable {
  let style: TextStyle

  func text(_ findings: [Finding]) -> String {
    let subjectWidth = min(findings.map(\.subject.printable.columns).max() ?? 0, 32)
    var text = ""
    for finding in findings {
      let subject = finding.subject.printable
      text += "\(mark(finding.grade))  \(subject.padded(to: subjectWidth))  \(finding.detail.printable)\n"
      if let advice = finding.advice { text += "      \(style.dim(advice.printable))\n" }
    }
    let counts = [Finding.Grade.fail, .warn].map { grade in findings.count { $0.grade == grade } }
    text += "\n" + summary(failures: counts[0], warnings: counts[1]) + "\n"
    return text
  }

  private func mark(_ grade: Finding.Grade) -> String {
    switch grade {
    case .ok: style.good("ok  ")
    case .warn: style.warning("warn")
    case .fail: style.failure("fail")
    }
  }

  private func summary(failures: Int, warnings: Int) -> String {
    guard failures + warnings > 0 else { return "All is well." }
    let parts = [
      failures > 0 ? failures.counted("failure") : nil, warnings > 0 ? warnings.counted("warning") : nil,
    ]
    return parts.compactMap(\.self).joined(separator: ", ") + "."
  }
}

extension JSONLine {
  /// A finding of `dnsctl check`.
  init(_ finding: Finding) {
    self.init()
    add("subject", Self.string(finding.subject))
    add("grade", "\"\(finding.grade.rawValue)\"")
    add("detail", Self.string(finding.detail))
    add("advice", finding.advice.map(Self.string))
  }
}
