// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A console block of a page: the README, or an article of the documentation.
///
/// Its fence says what it is: `console` is run as it stands, `console of: PROGRAM` shows parts of what that program prints,
/// and `console not-run: REASON` is shown alone. In what is shown, `…` stands for anything: a line of it for any lines.
struct PageBlock {
  enum Kind: Hashable {
    case run
    case excerpt(of: String)
    case notRun(String)
  }

  struct Step {
    var command: String
    var shown: [String] = []
  }

  /// The page's path in the repository.
  var page: String
  /// Where its fence stands.
  var line: Int
  var kind: Kind
  var text: [String]

  /// The commands, each with what it shows.
  var steps: [Step] {
    var steps: [Step] = []
    var continues = false
    for line in text {
      if line.hasPrefix("$ ") {
        steps.append(Step(command: String(line.dropFirst(2))))
      } else if continues {
        steps[steps.count - 1].command += "\n" + line
      } else if !steps.isEmpty {
        steps[steps.count - 1].shown.append(line)
      }
      continues = line.hasSuffix("\\") && (continues || line.hasPrefix("$ "))
    }
    return steps
  }

  /// Where it stands, for messages.
  var place: String { "\(page):\(line)" }

  /// All blocks of a page.
  ///
  /// - Throws: that a fence of a console says something else, or that a command stands in another block, where nobody runs it.
  static func all(_ text: String, of page: String) throws -> [PageBlock] {
    var blocks: [PageBlock] = []
    var open: PageBlock?
    var isInOther = false
    for (index, line) in text.components(separatedBy: "\n").enumerated() {
      guard line.hasPrefix("```") else {
        open?.text.append(line)
        guard !isInOther || !line.hasPrefix("$ ") else {
          throw ServerFixture.Failure("\(page):\(index + 1): a command stands in a block that is no console")
        }
        continue
      }
      if let block = open {
        blocks.append(block)
        open = nil
      } else if isInOther {
        isInOther = false
      } else if line.hasPrefix("```console") {
        open = PageBlock(
          page: page, line: index + 1, kind: try kind(String(line.dropFirst(10)), "\(page):\(index + 1)"), text: [])
      } else {
        isInOther = true
      }
    }
    return blocks
  }

  private static func kind(_ words: String, _ place: String) throws -> Kind {
    let parts = words.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
    switch (parts.first, parts.count) {
    case (nil, _): return .run
    case ("of", 2) where !parts[1].isEmpty: return .excerpt(of: parts[1])
    case ("not-run", 2) where !parts[1].isEmpty: return .notRun(parts[1])
    default: throw ServerFixture.Failure("\(place): a console block is run, of: PROGRAM or not-run: REASON")
    }
  }

  // MARK: Comparing

  /// What differs between what is shown and what a command wrote; nothing if it fits.
  static func difference(_ shown: [String], _ written: String) -> String? {
    let wanted = normal(shown)
    let found = normal(written.components(separatedBy: "\n"))
    var place = 0
    var mayLeaveOut = false
    for line in wanted {
      if line == "…" {
        mayLeaveOut = true
        continue
      }
      while place < found.count, !fits(found[place], line), mayLeaveOut { place += 1 }
      guard place < found.count, fits(found[place], line) else { return "\"\(line)\" is not in:\n\(written)" }
      place += 1
      mayLeaveOut = false
    }
    return mayLeaveOut || place == found.count ? nil : "\"\(found[place])\" is not shown of:\n\(written)"
  }

  /// What is shown of a program's output and is not in it, in that order.
  static func missing(_ shown: [String], in written: String) -> String? {
    let lines = normal(shown).flatMap { ["…", $0] } + ["…"]
    return difference(lines, written)
  }

  /// What is measured, drawn by lot or aligned to such is made equal; so are lines that come in any order.
  private static func normal(_ lines: [String]) -> [String] {
    let lines = lines.map { line in
      line.replacing(#/\b\d+(\.\d+)? (ms|µs|s|min)\b/#, with: "N s")
        .replacing(#/\b\d+ d\b/#, with: "N d")
        .replacing(#/(:|port )\d{4,5}\b/#) { "\($0.output.1)PORT" }
        .replacing(#/"(elapsedMs|ttl)":\d+(\.\d+)?/#) { "\"\($0.output.1)\":N" }
        .replacing(#/\b1\d{12}\b/#, with: "INSTANT")
        .replacing(#/127\.0\.0\.[12]\b/#, with: "127.0.0.N")
        // Newer libcurls write it out.
        .replacing("Could not connect", with: "Couldn't connect")
        .replacing(#/ +/#, with: " ").trimmingCharacters(in: .whitespaces)
    }.filter { !$0.isEmpty }
    // A trace has its lines as they come.
    let traces = lines.prefix { $0.hasPrefix("+") }
    return traces.sorted() + lines.dropFirst(traces.count)
  }

  private static func fits(_ line: String, _ shown: String) -> Bool {
    let parts = shown.components(separatedBy: "…")
    guard parts.count > 1 else { return line == shown }
    guard line.hasPrefix(parts[0]), line.hasSuffix(parts[parts.count - 1]) else { return false }
    var rest = line.dropFirst(parts[0].count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let range = rest.firstRange(of: part) else { return false }
      rest = rest[range.upperBound...]
    }
    return rest.hasSuffix(parts[parts.count - 1])
  }
}
