// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

struct TransferReportTests {
  @Test func `the time is that of the last try, without the tries and pauses before it`() throws {
    let url = try WebURL("http://shop.example/")
    let report = TransferReport(
      FetchJob(
        index: 0, text: "\(url)", url: url, request: HTTPRequest(method: .get, url: url), body: .none,
        destination: .standardOutput, wantsHeadAlone: false))
    func instant(_ milliseconds: Int64) -> ResolverInstant {
      ResolverInstant(nanoseconds: 1_000_000_000) + .milliseconds(milliseconds)
    }
    report.end(.upstreamFailed, "nothing was sent", at: instant(0))
    #expect(report.now.elapsed == .zero)
    for (begin, end) in [(0, 40), (2_040, 2_050)] as [(Int64, Int64)] {
      report.begin(at: instant(begin))
      report.received(7)
      report.end(.answered, nil, at: instant(end))
      #expect(report.now.elapsed == .milliseconds(end - begin) && report.now.received == 7)
    }
  }
}
