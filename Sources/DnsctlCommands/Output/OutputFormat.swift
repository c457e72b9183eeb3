// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS

/// How answers are written.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case text, json, short, hosts, tsv

  /// The output for one name.
  ///
  /// Standard output has only answers; with JSON it has the errors too.
  func render(_ outcome: LookupOutcome, _ layout: TextTable) -> RenderedOutcome {
    switch (self, outcome.result) {
    case (.json, _): RenderedOutcome(output: JSONLine(outcome).text)
    case (.text, .success(let resolution)):
      RenderedOutcome(output: layout.block(outcome.host, resolution, elapsed: outcome.elapsed))
    case (.short, .success(let resolution)):
      RenderedOutcome(output: resolution.addresses.map { "\($0)\n" }.joined())
    case (.hosts, .success(let resolution)):
      RenderedOutcome(output: HostsFile.lines(outcome.host, resolution.addresses))
    case (.tsv, .success(let resolution)):
      RenderedOutcome(output: TabSeparated.lines(outcome.host, resolution))
    case (.text, .failure(let error)), (.short, .failure(let error)), (.hosts, .failure(let error)),
      (.tsv, .failure(let error)):
      RenderedOutcome(errors: ErrorText.lines(outcome.host, error))
    }
  }
}

/// Errors as text for standard error.
enum ErrorText {
  static func lines(_ host: String, _ error: DirectDNSError) -> String {
    // Not every message about an invalid name repeats the name.
    let text = error.code == .invalidName ? "\"\(host.printable)\": \(error.clause)." : "\(error)"
    return "dnsctl: \(text)\n"
  }

  /// The message in one line, with every provider that was asked.
  static func line(_ error: DirectDNSError) -> String {
    guard !error.attempts.isEmpty else { return error.message }
    return error.message + " Tried " + error.attempts.map(\.description).joined(separator: "; ") + "."
  }
}
