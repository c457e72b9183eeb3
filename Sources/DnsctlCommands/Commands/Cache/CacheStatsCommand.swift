// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser

/// `dnsctl cache stats`: shows how much a store holds.
struct CacheStatsCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Count what is stored.",
    discussion: """
      lines are the bytes of the answers themselves; file is what the file takes with its log, free pages included.

      EXAMPLES
        dnsctl cache stats
        dnsctl cache stats --format json | jq .freshness.stale
      """)

  @OptionGroup(title: "Store options")
  var options: StoreOptions

  @OptionGroup
  var output: ShownFormatOptions

  func run(_ store: OpenStore, in context: CommandContext) async throws(StoreFailure) -> ExitStatus {
    let statistics = try await store.visit(StoreStatistics()) { statistics, rows in
      for row in rows { statistics.add(row) }
    }
    try context.print(output.isJSON ? statistics.json(store).text : statistics.text(store))
    return .answered
  }
}
