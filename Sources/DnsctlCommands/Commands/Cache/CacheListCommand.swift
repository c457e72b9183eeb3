// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSConfiguration

/// `dnsctl cache list`: lists stored answers, one per line.
struct CacheListCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List stored answers.",
    discussion: """
      Each answer is a line: a name has one for each family that was asked for. TTL is what is left of its lifetime, with a minus once it has expired; SOURCE is the provider that gave it. There are no hits: a store counts none, since that would cost each lookup a write; a process's metrics have its own.

      With json, lines come as they are read unless --sort is given; a server may show an answer twice that changes meanwhile. short is names alone, each once.

      EXAMPLES
        dnsctl cache list
        dnsctl cache list '*.example.com' --freshness stale --sort age
        dnsctl cache list --freshness gone --format short | dnsctl cache forget -

      JSON
      \(StoredRow.jsonHelp)

      Exit status: see dnsctl cache.
      """)

  @OptionGroup(title: "Store options")
  var options: StoreOptions

  @Option(help: "The families to list.")
  var family = FamilyWord.any

  @Option(help: "The freshness to list; several may be given. (default: any)")
  var freshness: [FreshnessOption] = []

  @Option(help: "What to sort by. (default: name, or with json the store's own order)")
  var sort: StoredOrder?

  @Flag(help: "Sort the other way round.")
  var reverse = false

  @OptionGroup(title: "Output options")
  var output: FormatOptions

  @OptionGroup(title: "Output options")
  var colours: ColourOptions

  @Argument(
    help: ArgumentHelp(
      "Names to list: a glob if there is a * or ?, any part of a name otherwise. (default: all)", valueName: "pattern"))
  var patterns: [String] = []

  func run(_ store: OpenStore, in context: CommandContext) async throws(CommandError) -> ExitStatus {
    let context = context.coloured(colours)
    let filter = try filter()
    guard output.chosen != .json || sort != nil || reverse else {
      _ = try await store.visit(()) { _, rows throws(CommandError) in
        try context.print(rows.filter(filter).map(\.json.text).joined())
      }
      return .answered
    }
    let found = try await store.visit([StoredRow]()) { $0 += $1.filter(filter) }
    try context.print(render((sort ?? .name).sorted(found, isReversed: reverse), context.style))
    return .answered
  }

  private func filter() throws(CommandError) -> @Sendable (StoredRow) -> Bool {
    var read: [NamePattern] = []
    for text in patterns { read.append(try NamePattern(text)) }
    return { [families = family.families, wanted = Set(freshness), patterns = read] row in
      let question = row.answer.question
      return families.contains(question.family) && (wanted.isEmpty || wanted.contains(row.freshness))
        && (patterns.isEmpty || patterns.contains { $0.matches(question.host) })
    }
  }

  private func render(_ rows: [StoredRow], _ style: TextStyle) -> String {
    switch output.chosen {
    case .json: return rows.map(\.json.text).joined()
    case .short:
      var seen: Set<HostName> = []
      return rows.map(\.answer.question.host).filter { seen.insert($0).inserted }.map { "\($0)\n" }.joined()
    case .hosts: return rows.map { HostsFile.lines($0.answer.question.host.text, $0.addresses) }.joined()
    case .tsv: return rows.map(Self.tabSeparated).joined()
    case .text:
      guard !rows.isEmpty else { return "" }
      var table = ColumnTable()
      table.add(
        ["NAME", "TYPE", "TTL", "FRESHNESS", "AGE", "SOURCE", "ADDRESSES"].map { .init($0) { style.dim($0) } })
      for row in rows {
        let host = row.answer.question.host.text
        table.add([
          .init(host) { style.bold($0) }, .init("\(row.answer.question.type)"), .init(row.state.timeLeft.rough),
          .init(row.freshness.rawValue) { style.freshness(row, $0) }, .init(row.state.age.rough),
          .init(row.answer.provider), .init(row.content),
        ])
      }
      return table.text
    }
  }

  /// Negative answers have no line.
  private static func tabSeparated(_ row: StoredRow) -> String {
    let question = row.answer.question
    return row.addresses.map { address in
      TabSeparated.line([
        question.host.text, "\(question.type)", "\(row.state.timeLeft.components.seconds)", "\(address)",
        row.freshness.rawValue, row.answer.provider,
      ])
    }.joined()
  }
}
