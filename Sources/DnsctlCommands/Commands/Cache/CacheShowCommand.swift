// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import DirectDNS

/// `dnsctl cache show`: shows everything that is stored about names.
struct CacheShowCommand: StoreCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show everything that is stored about names.",
    discussion: """
      asked is when the provider was asked, which is what the lifetime counts from; gone is the time from which the answer is not used any more, not even as an expired one.

      EXAMPLES
        dnsctl cache show www.example.com
        dnsctl cache show --format json www.example.com

      JSON
      \(StoredRow.jsonHelp)

      Exit status: see dnsctl cache.
      """)

  @OptionGroup(title: "Store options")
  var options: StoreOptions

  @OptionGroup
  var output: ShownFormatOptions

  @OptionGroup
  var colours: ColourOptions

  @Argument(help: ArgumentHelp("A name.", valueName: "host"))
  var hosts: [String]

  func run(_ store: OpenStore, in context: CommandContext) async throws(CommandError) -> ExitStatus {
    var status = ExitStatus.answered
    let style = context.coloured(colours).style
    for text in hosts {
      let host: HostName
      do throws(DirectDNSError) { host = try HostName(text) } catch {
        context.errors.say(ErrorText.lines(text, error))
        status = status.joined(.noAnswer)
        continue
      }
      let rows = try await store.rows(host)
      if rows.isEmpty {
        context.reportError("\(host.shown) is not stored.")
        status = status.joined(.noAnswer)
      }
      for row in rows { try context.print(output.isJSON ? row.json.text : Self.block(row, store.now, style)) }
    }
    return status
  }

  private static func block(_ row: StoredRow, _ now: WallInstant, _ style: TextStyle) -> String {
    let answer = row.answer
    var table = ColumnTable()
    func add(_ name: String, _ value: String, paint: @escaping @Sendable (String) -> String = { $0 }) {
      table.add([.init("  \(name)") { style.dim($0) }, .init(value, paint: paint)])
    }
    add("addresses", row.content)
    if let alias = answer.canonicalName { add("alias of", alias.shown) }
    add("freshness", row.freshness.rawValue) { style.freshness(row, $0) }
    add("source", answer.provider)
    for (name, instant) in [("asked", answer.asked), ("expires", answer.expires), ("gone", answer.gone)] {
      let distance = instant - now
      add(name, "\(instant.text) (\(distance < .zero ? "\((.zero - distance).rough) ago" : "in \(distance.rough)"))")
    }
    return "\(style.bold(answer.question.description))\n\(table.text)"
  }
}
