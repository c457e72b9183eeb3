// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The result of a warm-up, for people and for programs.
struct WarmupSummary {
  let report: WarmupReport
  let style: TextStyle

  /// The most failures that are listed if the minimum was reached, since the rest matters little then.
  static let fewFailures = 20

  /// The table, and the conclusion below it.
  var text: String {
    var table = ColumnTable()
    func add(_ title: String, _ count: Int, _ note: String = "", always: Bool = false) {
      guard always || count > 0 else { return }
      table.add([.init(title), .init("\(count)") { [style] in style.bold($0) }, .init(note)])
    }
    let rejected = report.rejected.count + report.rejectedLeftOut
    let notes = [
      report.duplicates > 0 ? "\(report.duplicates) more \(report.duplicates == 1 ? "was" : "were") the same" : nil,
      rejected > 0 ? "\(rejected) more \(rejected == 1 ? "was no name" : "were no names")" : nil,
      report.isListComplete ? nil : "not all were read",
    ]
    add("names", report.names, notes.compactMap(\.self).joined(separator: ", "), always: true)
    add("resolved", report.resolved, always: true)
    add("from the store", report.fromStore)
    add("from the cache", report.fromCache)
    add("expired", report.expired, "of these: no server could be asked")
    add("negative", report.negative, reasons { $0 == .nameNotFound || $0 == .noAddress })
    add("failed", report.failed, reasons { $0 != .nameNotFound && $0 != .noAddress })
    add("unfinished", report.unfinished)
    add("not kept", report.evicted, "answers: the store is full, and evicts those that are gone first")
    let queries = report.queries.map {
      "\($0.provider) \($0.queries)\($0.failed > 0 ? " (\($0.failed) failed)" : "")"
    }
    add("queries", report.queries.reduce(0) { $0 + $1.queries }, queries.joined(separator: ", "))
    let slowest = report.slowest.prefix(3).map { "\($0.host.spelled) \($0.duration.readable)" }
    if !slowest.isEmpty { table.add([.init("slowest"), .init(""), .init(slowest.joined(separator: ", "))]) }
    return table.text + verdict + "\n"
  }

  private var verdict: String {
    let took = "in \(report.duration.readable)"
    let (needed, minimum) = ("\(report.needed)", "\(report.minimum)")
    let wanted = report.isListComplete && needed != minimum ? "\(needed) (\(minimum))" : minimum
    let enough =
      "\(report.answered) of \(report.names) \(report.names == 1 ? "has" : "have") an address, \(wanted) \(Self.verb(report))"
    let end =
      switch report.end {
      case .deadline: ", the deadline came first"
      case .stopped: ", stopped early"
      case .running, .finished: ""
      }
    let pause = report.pause.map { ", \($0.provider.printable) wanted no query for \($0.left.rough) more (429)" }
    return "\(style.readiness(report.readiness)): \(enough)\(end)\(pause ?? ""), \(took)"
  }

  private static func verb(_ report: WarmupReport) -> String {
    let isOne = report.isListComplete && report.needed == 1
    return report.isMinimumReached ? isOne ? "is enough" : "are enough" : isOne ? "was wanted" : "were wanted"
  }

  private func reasons(_ isWanted: (DirectDNSError.Code) -> Bool) -> String {
    report.reasons.filter { isWanted($0.code) }.map { "\($0.code) \($0.names)" }.joined(separator: ", ")
  }

  /// The names without an address, one per line with its reason; more of them if the minimum was missed.
  var failures: [String] {
    let limit = report.isMinimumReached ? Self.fewFailures : WarmupReport.listLimit
    // Most messages begin with the name.
    let lines = report.failures.prefix(limit).map { failure in
      failure.message.hasPrefix("\(failure.host.shown) ")
        ? failure.message : "\(failure.host.shown): \(failure.message)"
    }
    let more = report.failures.count + report.failuresLeftOut - lines.count
    return lines + (more > 0 ? ["and \(more.counted("more name")) without an address"] : [])
  }

  /// What --help says of the report's JSON.
  static let jsonHelp = """
    The report of --json, in one line, and of --report. A place and a pause are left out where there is none; every other key is always there, in alphabetical order.
      names             names of the list, each once
      duplicates        entries that repeat a name
      resolved, fromStore, fromCache
                        names with an address, by where it came from
      expired           those of them whose answer has expired
      negative          names that do not exist or have no such address
      failed            names that could not be looked up
      unfinished        names that were not done at the end
      reasons           code and names: how many names failed with a code
      failures          host, code and message of each, 1000 at most
      failuresLeftOut   how many more there were
      rejected          text, reason and place (source and line) of entries
                        that are no names, 1000 at most
      rejectedLeftOut   how many more there were
      slowest           host and durationMs (of the last try) of the 10
                        slowest names
      queries           provider, queries and failed, for each provider
      evicted           answers that the store evicted for want of room
      pause             provider and leftMs: the pause (429) that it ended in
      durationMs        how long it took
      minimum, needed   --min-success, and how many names that is
      isMinimumReached  whether so many have an address
      isListComplete    whether the list was read to its end
      end               finished, deadline or stopped
    """

  /// The report as JSON, in one line or in many.
  func json(isPretty: Bool) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting =
      isPretty ? [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted] : [.sortedKeys, .withoutEscapingSlashes]
    // Every number of a report is finite, and every text UTF-8.
    let bytes = (try? encoder.encode(report)) ?? Data()
    return JSONLine.escaped(String(decoding: bytes, as: UTF8.self)) + "\n"
  }
}

extension TextStyle {
  /// Green, yellow or red.
  func readiness(_ readiness: WarmupReport.Readiness) -> String {
    switch readiness {
    case .complete: good("complete")
    case .degraded: warning("degraded")
    case .missed: failure("missed")
    }
  }
}
