// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The message about a first argument that is not a command.
enum UnknownCommand {
  /// Suggests the command that was meant, as far as that can be guessed.
  ///
  /// - Parameters:
  ///   - word: the first argument.
  ///   - commands: the program's commands.
  /// - Returns: what to write instead; nil for a command or an option.
  static func objection(to word: String, commands: [String]) -> String? {
    guard !word.hasPrefix("-"), word != "help", !commands.contains(word) else { return nil }
    guard !word.isEmpty else { return "the first argument is empty, and should be a command: see --help." }
    // A URL may have a password in it, and is not repeated.
    if commands.contains("fetch"), word.contains("://") { return "a URL is no command. Write dnsctl fetch URL." }
    return "there is no command \(word.printable). \(advice(on: word, commands))"
  }

  private static func advice(on word: String, _ commands: [String]) -> String {
    let nearest = commands.map { (name: $0, distance: distance($0.utf8, word.lowercased().utf8)) }
      .min { $0.distance < $1.distance }
    if let nearest, nearest.distance <= 2, nearest.distance * 2 < nearest.name.utf8.count {
      return "Did you mean \(nearest.name)?"
    }
    if commands.contains("resolve"), word.contains(where: { ".:@".contains($0) }) {
      return "To look up a name, write dnsctl resolve NAME."
    }
    return "There are \(commands.joined(separator: ", ")): see --help."
  }

  /// How many letters have to be changed, inserted, removed or swapped with their neighbour to turn one word into the
  /// other.
  private static func distance(_ one: String.UTF8View, _ other: String.UTF8View) -> Int {
    let (one, other) = (Array(one), Array(other))
    var before: [Int] = []
    var row = Array(0...other.count)
    for (line, letter) in one.enumerated() {
      var next = [line + 1]
      for (place, theirs) in other.enumerated() {
        var least = min(row[place] + (letter == theirs ? 0 : 1), row[place + 1] + 1, next[place] + 1)
        if line > 0, place > 0, letter == other[place - 1], theirs == one[line - 1] {
          least = min(least, before[place - 1] + 1)
        }
        next.append(least)
      }
      (before, row) = (row, next)
    }
    return row[other.count]
  }
}
