// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS

/// `dnsctl cache import`: stores the answers that an export has written.
struct CacheImportCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Store the answers of an export.",
    discussion: """
      Every line is checked before the first answer is stored: if any are wrong, all of them are named and nothing is stored. Blank lines do not count.

      A stored answer is kept if it was asked for at the same time or later, even if it was stored while the import runs. One from the future, because a clock was wrong, counts as older than one that is not. Answers that are gone are left out. A store of limited size evicts: what it has no room for counts as without room, and the status is 74. All of the import is held in memory meanwhile.

      EXAMPLES
        dnsctl cache import answers.jsonl
        dnsctl cache import --store redis://cache.example < answers.jsonl

      Exit status: see dnsctl cache.
      """)

  static let makesFile = true

  @OptionGroup(title: "Store options")
  var options: StoreOptions

  @Argument(help: ArgumentHelp("The file; - is standard input.", valueName: "file"))
  var file = Pipeline.inputMark

  func validate() throws {
    guard !file.isEmpty else { throw ValidationError("The name of the file is empty.") }
  }

  func run(_ store: OpenStore, in context: CommandContext) async throws(CommandError) -> ExitStatus {
    let place = file == Pipeline.inputMark ? "standard input" : file.printable
    let answers = try AnswerImport.answers(try await bytes(place, in: context), place, at: store.now)
    let usable = answers.filter { $0.gone > store.now }
    var stored = 0
    for start in stride(from: 0, to: usable.count, by: AnswerImport.batch) {
      let batch = Array(usable[start..<min(start + AnswerImport.batch, usable.count)])
      try await store.call { store throws(DirectDNSError) in stored += try await store.writeNewer(batch) }
    }
    // All are asked for, since a store evicts by rules of its own: Redis may do so at random. Those that are gone
    // within a minute may be gone by now.
    let lasting = usable.filter { $0.gone > store.now + .seconds(60) }
    let kept = usable.count - stored
    let evicted = stored == 0 ? 0 : try await missing(lasting, in: store)
    let room = evicted > 0 ? ", \(evicted) without room" : ""
    try context.print(
      "\(max(0, stored - evicted)) stored, \(kept) kept as newer or the same, \(answers.count - usable.count) gone\(room)\n"
    )
    guard evicted > 0 else { return .answered }
    context.reportError("the store is full, and has evicted answers.")
    return .streams
  }

  /// How many of the answers' questions the store has no answer to.
  private func missing(_ answers: [StoredAnswer], in store: OpenStore) async throws(CommandError) -> Int {
    var found = 0
    for start in stride(from: 0, to: answers.count, by: AnswerImport.batch) {
      let batch = answers[start..<min(start + AnswerImport.batch, answers.count)].map(\.question)
      try await store.call { store throws(DirectDNSError) in found += try await store.read(batch).count }
    }
    return answers.count - found
  }

  private func bytes(_ place: String, in context: CommandContext) async throws(CommandError) -> [UInt8] {
    do throws(StreamError) {
      if file == Pipeline.inputMark { return try await context.input.readToEnd() }
      guard let bytes = try context.readFile(file) else { throw .failed("there is no such file") }
      return bytes
    } catch {
      throw CommandError(.streams, "\(place) cannot be read: \(error.reason).")
    }
  }
}
