// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation

/// Why the story did not come true.
struct StoryError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// Prints the story, and checks it.
///
/// Colour is for terminals.
struct Console: Sendable {
  private let usesColour: Bool

  init() {
    let environment = ProcessInfo.processInfo.environment
    usesColour = isatty(1) == 1 && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
  }

  private func styled(_ text: String, _ code: String) -> String {
    usesColour ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
  }

  private func write(_ text: String, to file: FileHandle = .standardOutput) {
    // Whoever closed the pipe does not want to read on.
    try? file.write(contentsOf: Data((text + "\n").utf8))
  }

  func chapter(_ title: String) { write("\n" + styled("── \(title) ──", "1")) }

  /// Prints prose in lines that fit any terminal.
  func say(_ text: String) {
    var lines = [""]
    for word in text.split(separator: " ") {
      let line = lines[lines.count - 1]
      if line.count + word.count >= 80 {
        lines.append("\(word)")
      } else {
        lines[lines.count - 1] += (line.isEmpty ? "" : " ") + word
      }
    }
    write(lines.joined(separator: "\n"))
  }

  func command(_ text: String) { write("\n" + styled("$ \(text)", "36")) }
  func output(_ text: String) { write(text) }
  func reportError(_ text: String) { write(text, to: .standardError) }

  /// Shows a call of the library, and what came of it.
  func show(_ call: String, _ resolution: Resolution?, _ time: Duration? = nil) {
    let parts = [call + "  →", resolution.map(text) ?? "nothing", time.map { "(\($0.text))" }]
    write("  " + parts.compactMap(\.self).joined(separator: "  "))
  }

  /// Shows what becomes of something.
  func show(_ before: String, _ after: String) { write("  \(before)\n    →  \(after)") }

  /// Shows a call of the library, and its error.
  func show(_ call: String, _ error: DirectDNSError) {
    write("  \(call)  →  \(error.code)\n    " + error.description.replacing("\n", with: "\n    "))
  }

  /// Shows what the cache has of the story's name, which must be that fresh.
  func show(_ call: String, _ resolver: DirectResolver, expecting freshness: Resolution.Freshness) throws {
    let found = resolver.cached(Stage.host)
    show(call, found)
    try expect(found?.freshness, is: freshness, "the cached answer's freshness")
    try expect(found?.addresses.map(\.description), is: [Stage.address], "the cached answer's addresses")
  }

  private func text(_ resolution: Resolution) -> String {
    let addresses = resolution.addresses.map(\.description).joined(separator: " ")
    let lifetime = resolution.timeToLive.map { "ttl \($0.components.seconds) s" } ?? "no end"
    let freshness = styled(resolution.freshness.rawValue, resolution.freshness <= .due ? "32" : "33")
    let expired = resolution.expiredFor.map { " (expired \($0.components.seconds) s ago)" } ?? ""
    return
      "\(addresses)  \(lifetime)  \(freshness)\(expired)  \(resolution.source.provider ?? resolution.source.kind)"
  }

  // MARK: Checking

  func expect<Value: Equatable>(_ found: Value, is wanted: Value, _ what: String) throws {
    guard found != wanted else { return }
    throw StoryError("\(what): expected \(wanted), got \(found)")
  }

  func expect(_ found: String, contains wanted: String, _ what: String) throws {
    guard !found.contains(wanted) else { return }
    throw StoryError("\(what): expected \"\(wanted)\" to stand in it, got:\n\(found)")
  }
}

extension Duration {
  /// Seconds, milliseconds or microseconds, whichever reads best.
  var text: String {
    let microseconds = self / .microseconds(1)
    let (value, unit) =
      microseconds < 1000
      ? (microseconds, "µs") : microseconds < 1e6 ? (microseconds / 1e3, "ms") : (microseconds / 1e6, "s")
    return "\((value * 10).rounded() / 10) \(unit)"
  }
}
