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

      JSON
      One compact object. Every key is always there, in this order, and null where there is nothing.
        store      sqlite or redis
        path       the path of a file
        answers    how many answers there are
        families   of them those of each family: A, AAAA
        freshness  of them those that are fresh, due, grace, stale, gone
        negative   of them the negative ones
        sources    of them those of each provider
        oldest, newest
                   when the first and the last one were asked for, in
                   milliseconds since 1970
        lineBytes  the bytes of the answers
        fileBytes  the bytes of the file with its log

      Exit status: see dnsctl cache.
      """)

  @OptionGroup(title: "Store options")
  var options: StoreOptions

  @OptionGroup
  var output: ShownFormatOptions

  func run(_ store: OpenStore, in context: CommandContext) async throws(CommandError) -> ExitStatus {
    let statistics = try await store.visit(StoreStatistics()) { statistics, rows in
      for row in rows { statistics.add(row) }
    }
    try context.print(output.isJSON ? statistics.json(store).text : statistics.text(store))
    return .answered
  }
}
