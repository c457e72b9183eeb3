// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS

/// A stored answer with its age and freshness, as it is shown.
struct StoredRow: Sendable {
  let answer: StoredAnswer
  let state: StoredAnswer.State

  /// `fresh`, `due`, `grace`, `stale` or `gone`.
  var freshness: FreshnessOption { FreshnessOption(state.freshness) }

  /// The addresses, or the kind of negative answer as DNS calls it.
  var content: String {
    switch answer.content {
    case .addresses(let addresses): addresses.map(\.description).joined(separator: ", ")
    case .negative(.nameNotFound): "nxdomain"
    case .negative(.noAddress): "nodata"
    }
  }

  /// The addresses; empty for a negative answer.
  var addresses: [IPAddress] { if case .addresses(let addresses) = answer.content { addresses } else { [] } }

  /// What --help says of its JSON.
  static let jsonHelp = """
    One compact object for each answer. Every key is always there, in this order, and null where there is nothing.
      host           the name
      type           the type of record, A or AAAA
      addresses      the addresses, none for a negative answer
      negative       null, nameNotFound or noAddress
      canonicalName  the name that the aliases lead to
      provider       who gave it
      asked, expires, gone
                     milliseconds since 1970; until gone it is used
      ttl            seconds until it expires, negative afterwards
      age            seconds since the provider was asked
      freshness      fresh, due, grace, stale or gone
    """

  /// One object: the keys of ``AnswerFile``, its age and its freshness.
  var json: JSONLine {
    var line = JSONLine(answer)
    line.add("ttl", "\(state.timeLeft.components.seconds)")
    line.add("age", "\(state.age.components.seconds)")
    line.add("freshness", "\"\(freshness.rawValue)\"")
    return line
  }
}

/// An answer's freshness, or that it cannot be used any more.
enum FreshnessOption: String, ExpressibleByArgument, CaseIterable, Sendable {
  case fresh, due, grace, stale, gone

  init(_ freshness: Resolution.Freshness?) {
    self = freshness.flatMap { FreshnessOption(rawValue: $0.rawValue) } ?? .gone
  }
}

extension TextStyle {
  func freshness(_ row: StoredRow, _ text: String) -> String {
    row.state.freshness.map { freshness($0, text) } ?? dim(text)
  }
}
