// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// A snapshot as text for people: a pure function of the snapshot and the window's size.
struct WatchScreen: Sendable {
  let style: TextStyle

  /// The whole snapshot, with lines no longer than the window's width.
  func text(_ snapshot: WatchSnapshot, width: Int) -> String {
    (lines(snapshot, width: width, rowLimit: nil) + [""]).map { "\($0)\n" }.joined()
  }

  /// A frame that is drawn over the one before: it fits the window, and erases what is left of the older one.
  func frame(_ snapshot: WatchSnapshot, _ size: TerminalSize, _ footer: WatchFooter = WatchFooter()) -> String {
    let below = self.footer(footer, width: size.columns)
    let rest = 4 + snapshot.upstreams.count + 2 + below.count
    let lines = (lines(snapshot, width: size.columns, rowLimit: max(1, size.rows - rest)) + below)
      .prefix(max(1, size.rows))
    return "\u{1b}[H" + lines.joined(separator: "\u{1b}[K\r\n") + "\u{1b}[K\u{1b}[J"
  }

  private func footer(_ footer: WatchFooter, width: Int) -> [String] {
    let message = footer.message.map { style.warning($0.printable.cut(to: width)) }
    let keys = footer.takesKeys ? style.dim((footer.showsKeys ? WatchKey.legend : "? keys").cut(to: width)) : nil
    let lines = [message, keys].compactMap(\.self)
    return lines.isEmpty ? [] : [""] + lines
  }

  private func lines(_ snapshot: WatchSnapshot, width: Int, rowLimit: Int?) -> [String] {
    var lines = [style.bold(title(snapshot).cut(to: width)), ""]
    let rows = snapshot.rows.prefix(rowLimit ?? .max)
    lines += names(rows).lines(width: width, title: style.dim)
    let left = snapshot.rows.count - rows.count
    if left > 0 { lines.append(style.dim("and \(left) more".cut(to: width))) }
    guard !snapshot.upstreams.isEmpty else { return lines }
    return lines + [""] + providers(snapshot.upstreams).lines(width: width, title: style.dim)
  }

  private func title(_ snapshot: WatchSnapshot) -> String {
    let names = snapshot.rows.count.counted("name")
    var parts = ["dnsctl watch", names, snapshot.elapsed.rough]
    if snapshot.lookups > 0 {
      let rate = snapshot.hits * 100 / snapshot.lookups
      parts.append("hit rate \(rate) % (\(snapshot.hits) of \(snapshot.lookups))")
    }
    return parts.joined(separator: " · ")
  }

  private func names(_ rows: ArraySlice<WatchSnapshot.Row>) -> FittedTable {
    var table = FittedTable(columns: [
      .init(title: "NAME", minimum: 12), .init(title: "STATE", rank: 1), .init(title: "TTL", isNumeric: true, rank: 2),
      .init(title: "ADDRESSES", minimum: 15, rank: 3), .init(title: "SOURCE", minimum: 6, rank: 4),
      .init(title: "HITS", isNumeric: true, rank: 5), .init(title: "LAST ERROR", minimum: 20, rank: 6),
    ])
    table.rows = rows.map { row in
      let freshness = row.resolution?.freshness
      let error = row.lastError ?? ""
      return [
        .init(row.host),
        .init(Self.state(row), paint: paint(freshness, hasFailed: error != "" && !row.isNegative)),
        .init(row.resolution.map(Self.timeToLive) ?? ""), .init(Self.addresses(row.resolution)),
        .init(row.resolution.map { $0.source.provider ?? $0.source.kind } ?? ""),
        .init("\(row.hits)/\(row.lookups)"),
        .init(error, paint: { [style] in row.isNegative ? style.dim($0) : style.warning($0) }),
      ]
    }
    return table
  }

  private func paint(_ freshness: Resolution.Freshness?, hasFailed: Bool) -> @Sendable (String) -> String {
    { [style] text in
      if let freshness { return style.freshness(freshness, text) }
      return hasFailed ? style.failure(text) : style.dim(text)
    }
  }

  private static func state(_ row: WatchSnapshot.Row) -> String {
    row.resolution?.freshness.rawValue ?? (row.isNegative ? "negative" : row.lastError == nil ? "…" : "failed")
  }

  /// The rest of the lifetime, or how long ago it ended.
  private static func timeToLive(_ resolution: Resolution) -> String {
    if let expired = resolution.expiredFor { return (.zero - expired).rough }
    return resolution.timeToLive?.rough ?? "-"
  }

  private static func addresses(_ resolution: Resolution?) -> String {
    guard let resolution, let first = resolution.addresses.first else { return "" }
    return resolution.addresses.count == 1 ? "\(first)" : "\(first) +\(resolution.addresses.count - 1)"
  }

  private func providers(_ upstreams: [ProviderStatus]) -> FittedTable {
    var table = FittedTable(columns: [
      .init(title: "PROVIDER", minimum: 8), .init(title: "QUERIES", isNumeric: true, rank: 1),
      .init(title: "FAILED", isNumeric: true, rank: 2), .init(title: "MEDIAN", isNumeric: true, rank: 3),
      .init(title: "P95", isNumeric: true, rank: 4), .init(title: "BREAKER", rank: 5),
    ])
    table.rows = upstreams.map { status in
      let breaker: TableCell =
        status.isBreakerOpen ? .init("open", paint: { [style] in style.failure($0) }) : .init("closed")
      return [
        .init(status.provider), .init("\(status.queries)"), .init("\(status.failures)"),
        .init(status.median?.readable ?? "-"), .init(status.percentile95?.readable ?? "-"), breaker,
      ]
    }
    return table
  }
}
