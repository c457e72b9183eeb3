// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// `--trace`: writes to standard error what happens, as it happens.
struct Trace: Sendable {
  let sink: any OutputSink
  let clock: any ResolverClock
  let start: ResolverInstant

  init(_ context: CommandContext) {
    sink = context.errors
    clock = context.clock
    start = context.clock.now
  }

  /// Writes one event.
  ///
  /// It may be called on any thread: each line is written in one piece.
  func note(_ event: ResolverEvent) {
    sink.say("+\((clock.now - start).readable)  \(Self.text(event))\n")
  }

  static func text(_ event: ResolverEvent) -> String {
    switch event {
    case .query(let query): line(query, "\(query.question)")
    case .recordQuery(let query): line(query, query.question.shown)
    case .hit(let host, let freshness): "cache  \(host.shown)  \(freshness.rawValue)"
    case .refresh(let host): "cache  \(host.shown)  being refreshed"
    case .evicted(let count): "cache  \(count.counted("name")) evicted"
    case .store(let name, .failed(let error)): "store  \(name)  \(error.message)"
    case .store(let name, .recovered): "store  \(name)  works again"
    case .store(let name, .dropped(let count)): "store  \(name)  \(count.counted("answer")) not written"
    }
  }

  private static func line<Question>(_ query: ResolverEvent.Query<Question>, _ question: String) -> String {
    let address = query.address.map { " (\($0))" } ?? ""
    let parts = [
      "\(query.provider)\(query.isHedge ? " (hedge)" : "")",
      question,
      query.origin == query.provider ? nil : "\(query.origin)\(address)",
      query.status.map { "HTTP \($0)" },
      query.outcome,
      "in \(query.duration.readable)",
    ]
    return parts.compactMap(\.self).joined(separator: "  ").printable
  }
}
