// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS

/// `dnsctl cache export`: writes stored answers as lines of JSON.
struct CacheExportCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write stored answers as lines of JSON.",
    discussion: """
      The first line says what it is, each further one is an answer:
        {"format":"directdns-answers","version":1}
        {"host", "type", "addresses", "negative", "canonicalName", "provider",
         "asked", "expires", "gone"}
      type is A or AAAA, negative is nameNotFound or noAddress where there are no addresses, and instants are milliseconds since 1970. What does not apply is null. Answers that are gone are left out.

      The file appears once it is complete; an existing one stays as it is until then.

      EXAMPLES
        dnsctl cache export answers.jsonl
        dnsctl cache export | ssh other dnsctl cache import

      Exit status: see dnsctl cache.
      """)

  @OptionGroup(title: "Store options")
  var options: StoreOptions

  @Argument(help: ArgumentHelp("The file; - is standard output.", valueName: "file"))
  var file = Pipeline.inputMark

  func validate() throws {
    guard !file.isEmpty else { throw ValidationError("The name of the file is empty.") }
  }

  func run(_ store: OpenStore, in context: CommandContext) async throws(CommandError) -> ExitStatus {
    guard file != Pipeline.inputMark else {
      try await write(store) { text throws(StreamError) in try context.output.write(text) }
      return .answered
    }
    try refuseStore(store.path)
    let target: ExportTarget
    do throws(StreamError) { target = try ExportTarget(path: file) } catch { throw CommandError(error, to: file) }
    try await write(store) { text throws(StreamError) in try target.write(text) }
    do throws(StreamError) { try target.finish() } catch { throw CommandError(error, to: file) }
    return .answered
  }

  /// Throws if the file is the store's, or what SQLite has beside it or will have: its log, and the log's index.
  private func refuseStore(_ path: String?) throws(CommandError) {
    guard let path else { return }
    for (end, what) in [("", "the store itself"), ("-wal", "the store's log"), ("-shm", "the store's log")] {
      let isBeside = file.hasSuffix(end) && isSameFile(String(file.dropLast(end.count)), path)
      guard !isBeside, !isSameFile(file, path + end) else {
        throw CommandError(.usage, "\(file.printable) is \(what): name another file.")
      }
    }
  }

  private func write(
    _ store: OpenStore, _ sink: @Sendable (String) throws(StreamError) -> Void
  ) async throws(CommandError) {
    let place = file == Pipeline.inputMark ? "standard output" : file
    do throws(StreamError) { try sink(AnswerFile.head) } catch { throw CommandError(error, to: place) }
    _ = try await store.visit(()) { _, rows throws(CommandError) in
      let lines = rows.filter { $0.freshness != .gone }.map { JSONLine($0.answer).text }.joined()
      do throws(StreamError) { try sink(lines) } catch { throw CommandError(error, to: place) }
    }
  }
}
