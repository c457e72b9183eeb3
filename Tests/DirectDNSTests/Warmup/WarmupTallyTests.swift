// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct WarmupTallyTests {
  private func outcome(
    _ name: String, _ result: Result<DirectResolver.Renewal, DirectDNSError>, _ seconds: Double = 0
  ) -> WarmupOutcome {
    WarmupOutcome(host: Sample.name(name), result: result, tries: 1, duration: .milliseconds(Int64(seconds * 1000)))
  }

  private func renewal(
    _ source: Resolution.Source = .provider("one"), _ freshness: Resolution.Freshness = .fresh, wasAsked: Bool = true
  ) -> DirectResolver.Renewal {
    DirectResolver.Renewal(
      resolution: Resolution(
        addresses: [.ipv4(1)], canonicalName: nil, freshness: freshness, source: source, ageNanoseconds: 0,
        timeToLiveNanoseconds: freshness <= .due ? 1 : -1), wasAsked: wasAsked)
  }

  private func report(_ tally: WarmupTally, _ end: WarmupReport.End = .finished) -> WarmupReport {
    tally.report(end, duration: .microseconds(12_345_678), queries: [])
  }

  @Test func `each name counts in one place`() {
    var tally = WarmupTally(minimum: .share(0.5))
    for _ in 0..<8 { tally.took(isNew: true) }
    tally.took(isNew: false)
    tally.readAll()
    tally.note(outcome("a.example", .success(renewal())))
    tally.note(outcome("b.example", .success(renewal(.store))))
    tally.note(outcome("c.example", .success(renewal(.store, .stale))))
    tally.note(outcome("d.example", .success(renewal(wasAsked: false))))
    tally.note(outcome("e.example", .failure(DirectDNSError(.nameNotFound, "none"))))
    tally.note(outcome("f.example", .failure(DirectDNSError(.timedOut, "late"))))
    tally.note(outcome("g.example", .failure(DirectDNSError(.cancelled, "gone"))))
    let report = report(tally, .deadline)
    #expect(report.names == 8 && report.duplicates == 1)
    #expect((report.resolved, report.fromStore, report.fromCache) == (1, 2, 1))
    #expect((report.expired, report.negative, report.failed, report.unfinished) == (1, 1, 1, 2))
    #expect(report.answered == 4 && report.done == 6)
    #expect(report.needed == 4 && report.isMinimumReached && report.readiness == .degraded)
    #expect(report.reasons.map(\.code) == [.nameNotFound, .timedOut])
    #expect(report.failures.map(\.host.text) == ["e.example", "f.example"])
    #expect(report.durationMs == 12_345.678)
  }

  @Test func `nothing is unfinished while it is under way`() {
    var tally = WarmupTally(minimum: .all)
    tally.took(isNew: true)
    #expect(report(tally, .running).unfinished == 0)
    #expect(report(tally, .stopped).unfinished == 1)
  }

  @Test func `the slowest stand first, those alike by name, and what cost no query is not among them`() {
    var tally = WarmupTally(minimum: .all)
    for index in 0..<100 { tally.note(outcome("h\(index % 50 + 10).example", .success(renewal()), Double(index % 7))) }
    tally.note(outcome("cached.example", .success(renewal(wasAsked: false)), 99))
    tally.note(outcome("slow.example", .failure(DirectDNSError(.timedOut, "late")), 8.5))
    let slowest = report(tally).slowest
    #expect(slowest.count == WarmupReport.slowestLimit)
    #expect(slowest[0] == WarmupReport.SlowName(host: Sample.name("slow.example"), durationMs: 8500))
    #expect(slowest.dropFirst().allSatisfy { $0.durationMs == 6000 })
    #expect(slowest.dropFirst().map(\.host) == slowest.dropFirst().map(\.host).sorted())
  }

  @Test func `of failures and rejections the first thousand are listed, and the rest is counted`() {
    var tally = WarmupTally(minimum: .all)
    for index in 0..<1500 {
      tally.note(outcome("h\(index).example", .failure(DirectDNSError(.upstreamFailed, "down"))))
      tally.rejected(
        WarmupRejection(place: WarmupPlace(source: "f", line: index + 1), text: "\"\"", reason: "empty"))
    }
    let report = report(tally)
    #expect(report.failures.count == WarmupReport.listLimit && report.failuresLeftOut == 500)
    #expect(report.rejected.count == WarmupReport.listLimit && report.rejectedLeftOut == 500)
    #expect(report.failed == 1500 && report.reasons == [.init(code: .upstreamFailed, names: 1500)])
  }

  @Test func `a failure names everyone who was asked`() {
    var tally = WarmupTally(minimum: .all)
    let error = DirectDNSError(
      .upstreamFailed, "No answer.", attempts: [.init(server: "one", reason: "HTTP 500")])
    tally.note(outcome("a.example", .failure(error)))
    #expect(report(tally).failures[0].message == "No answer. Tried one: HTTP 500.")
  }

  @Test func `providers that were not asked are left out`() {
    var tally = QueryTally()
    tally.note(.success(.addresses("192.0.2.1")))
    tally.note(.failure(ProviderFailure(.transport, "down")))
    let report = WarmupTally(minimum: .all).report(
      .finished, duration: .zero, queries: [("one", tally), ("two", QueryTally())])
    #expect(report.queries == [.init(provider: "one", queries: 2, failed: 1)])
  }
}
