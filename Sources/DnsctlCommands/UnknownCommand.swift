// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS

/// The message about an argument that is not a command, where one has to be.
enum UnknownCommand {
  /// Checks the words of a command line that name a command: after `help` too, and below a command with commands.
  ///
  /// - Parameters:
  ///   - words: the arguments.
  ///   - root: the program.
  /// - Returns: what to write instead; nil if the commands exist.
  static func objection(in words: [String], of root: any ParsableCommand.Type) -> String? {
    var (rest, commands, path) = (words[...], root.configuration.subcommands, [String]())
    if rest.first == "help" { rest.removeFirst() }
    while !commands.isEmpty, let word = rest.popFirst() {
      let names = commands.compactMap { $0.configuration.commandName }
      if let objection = objection(to: word, commands: names, under: paths(under: commands), below: path) {
        return objection
      }
      guard let next = commands.first(where: { $0.configuration.commandName == word }) else { return nil }
      commands = next.configuration.subcommands
      path.append(word)
    }
    return nil
  }

  /// Suggests the command that was meant, as far as that can be guessed.
  ///
  /// - Parameters:
  ///   - word: the argument.
  ///   - commands: the commands that there are.
  ///   - lower: the commands that these have, such as `cache export`; looked at where the word is none of the others.
  ///   - path: the commands before it.
  /// - Returns: what to write instead; nil for a command or an option.
  static func objection(
    to word: String, commands: [String], under lower: @autoclosure () -> [String] = [], below path: [String] = []
  ) -> String? {
    guard !word.hasPrefix("-"), word != "help", !commands.contains(word) else { return nil }
    let (path, help) = (
      path.map { $0 + " " }.joined(), "see \((["dnsctl"] + path + ["--help"]).joined(separator: " "))."
    )
    guard !word.isEmpty else {
      let place = path.isEmpty ? "first argument" : "argument after \(path.dropLast())"
      return "the \(place) is empty, and should be a command: \(help)"
    }
    // A URL may have a password in it, and is not repeated.
    if word.contains("://") {
      return "a URL is not a command" + (commands.contains("fetch") ? ". Write dnsctl fetch URL." : ": \(help)")
    }
    let advice = lower().first { $0.hasSuffix(" \(word)") }.map { "Did you mean \(path)\($0)?" }
    return "there is no command \(path)\(word.printable). "
      + (advice ?? Self.advice(on: word, commands, below: path, help))
  }

  /// The commands of commands, each with the one that has it.
  private static func paths(under commands: [any ParsableCommand.Type]) -> [String] {
    commands.flatMap { command in
      command.configuration.subcommands.compactMap { lower -> String? in
        guard let name = command.configuration.commandName else { return nil }
        return lower.configuration.commandName.map { "\(name) \($0)" }
      }
    }
  }

  private static func advice(on word: String, _ commands: [String], below path: String, _ help: String) -> String {
    let nearest = commands.map { (name: $0, distance: distance($0.utf8, word.lowercased().utf8)) }
      .min { $0.distance < $1.distance }
    if let nearest, nearest.distance <= 2, nearest.distance * 2 < nearest.name.utf8.count {
      return "Did you mean \(path)\(nearest.name)?"
    }
    if commands.contains("resolve"), word.contains(where: { ".:@".contains($0) }) {
      return "To look up a name, write dnsctl resolve NAME."
    }
    return "There are \(commands.joined(separator: ", ")): \(help)"
  }

  /// How many letters have to be changed, inserted, removed or swapped with their neighbour to turn one word into the
  /// other.
  static func distance(_ one: some Sequence<UInt8>, _ other: some Sequence<UInt8>) -> Int {
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
