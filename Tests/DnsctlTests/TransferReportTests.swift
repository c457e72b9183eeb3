// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

struct TransferReportTests {
  private func report() throws -> TransferReport {
    let url = try WebURL("http://shop.example/")
    return TransferReport(
      FetchJob(
        index: 0, text: "\(url)", url: url, request: HTTPRequest(method: .get, url: url), body: .none,
        destination: .standardOutput, wantsHeadAlone: false))
  }

  @Test(
    arguments: [
      // The first is refused its expectation, and sent again where it was.
      ([(false, false), (true, true)], 1),
      // libcurl opens one in place of a kept one that has ended.
      ([(true, false)], 1), ([(true, true)], 0), ([(false, false), (false, false)], 2),
    ] as [([(Bool, Bool)], Int)])
  func `each connection that was opened counts once, whoever tells of it`(
    _ requests: [(Bool, Bool)], _ count: Int
  ) throws {
    let report = try report()
    let address = IPAddress("127.0.0.1")
    for (isReused, wasReused) in requests {
      report.note(.connected(address, isReused: isReused))
      report.note(
        .responded(
          HTTPResponse(status: .ok),
          over: ConnectionDetails(remoteAddress: address, remotePort: 80, isReused: wasReused)))
    }
    #expect(report.now.connects == count && report.now.remote?.address == address && report.now.remote?.port == 80)
  }

  @Test func `the time is that of the last try, without the tries and pauses before it`() throws {
    let report = try report()
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
