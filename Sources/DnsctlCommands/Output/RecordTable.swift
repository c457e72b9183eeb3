// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The result of asking for a name's records of one type.
struct RecordOutcome: Sendable {
  /// The name as it was asked for.
  var host: String
  var type: DNSRecordType
  var result: Result<RecordResolution, DirectDNSError>
  var elapsed: Duration

  var status: ExitStatus { result.error.map { ExitStatus($0) } ?? .answered }
}

extension RecordResolution {
  /// The seconds for which a record may be used from now on; nil if it does not expire.
  fileprivate func secondsLeft(_ record: DNSRecord) -> UInt32? {
    switch source {
    case .pin, .literal, .local: nil
    case .provider, .system, .store: record.ttl
    }
  }
}

extension OutputFormat {
  /// The output for one name's records of one type.
  func render(_ outcome: RecordOutcome, _ style: TextStyle) -> RenderedOutcome {
    switch (self, outcome.result) {
    case (.json, _): RenderedOutcome(output: JSONLine(outcome).text)
    case (.text, .success(let found)):
      RenderedOutcome(output: RecordBlock(style: style).text(outcome.host, found, elapsed: outcome.elapsed))
    case (.short, .success(let found)): RenderedOutcome(output: found.records.map { "\($0.data)\n" }.joined())
    case (.tsv, .success(let found)):
      RenderedOutcome(
        output: found.records.map {
          TabSeparated.line([
            outcome.host, "\($0.type)", found.secondsLeft($0).map { "\($0)" } ?? "", "\($0.data)",
            found.freshness.rawValue,
            found.source.provider ?? found.source.kind,
          ])
        }.joined())
    case (.hosts, .success(let found)):
      RenderedOutcome(
        output: HostsFile.lines(
          outcome.host, found.records.compactMap { if case .address(let address) = $0.data { address } else { nil } }))
    case (.text, .failure(let error)), (.short, .failure(let error)), (.tsv, .failure(let error)),
      (.hosts, .failure(let error)):
      RenderedOutcome(errors: ErrorText.lines(outcome.host, error))
    }
  }
}

/// Records as text for people: a line each, and their source below them.
private struct RecordBlock: Sendable {
  let style: TextStyle

  func text(_ host: String, _ found: RecordResolution, elapsed: Duration) -> String {
    var table = ColumnTable()
    for (index, record) in found.records.enumerated() {
      table.add([
        TableCell(index == 0 ? host : "") { style.bold($0) }, TableCell("\(record.type)"),
        TableCell(found.secondsLeft(record).map { "\($0) s" } ?? ""), TableCell("\(record.data)"),
      ])
    }
    let indent = String(repeating: " ", count: host.printable.columns)
    return table.text + "\(indent)  \(details(found, elapsed))\n"
  }

  private func details(_ found: RecordResolution, _ elapsed: Duration) -> String {
    var parts = [style.freshness(found.freshness, found.freshness.rawValue)]
    parts.append(found.source.provider?.printable ?? found.source.kind)
    if found.isAuthenticated == true { parts.append("authenticated") }
    parts.append(style.dim(elapsed.readable))
    if let alias = found.canonicalName { parts.append(style.dim("alias of \(alias)")) }
    return parts.joined(separator: "  ")
  }
}

extension JSONLine {
  /// A name's records of one type, their data as text in the form of their RFCs.
  init(_ outcome: RecordOutcome) {
    let found = try? outcome.result.get()
    self.init()
    add("host", Self.string(outcome.host))
    add("type", Self.string("\(outcome.type)"))
    add("canonicalName", found?.canonicalName.map { Self.string("\($0)") })
    add("records", found.map { Self.array($0.records.map { Self.record($0, found?.secondsLeft($0)) }) })
    add("age", found.map { "\($0.age.components.seconds)" })
    add("freshness", found.map { "\"\($0.freshness.rawValue)\"" })
    add("source", found.map { "\"\($0.source.kind)\"" })
    add("provider", found?.source.provider.map(Self.string))
    add("authenticated", found?.isAuthenticated.map { "\($0)" })
    add("elapsedMs", outcome.elapsed.milliseconds)
    add("error", outcome.result.error.map(Self.object))
  }

  private static func record(_ record: DNSRecord, _ seconds: UInt32?) -> String {
    var line = JSONLine()
    line.add("name", string("\(record.owner)"))
    line.add("type", string("\(record.type)"))
    line.add("ttl", seconds.map { "\($0)" })
    line.add("data", string("\(record.data)"))
    return line.object
  }
}
