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
      // It was refused its expectation, and sent again where it was.
      ([false, true], 1),
      // libcurl has opened one in place of a kept one that had ended.
      ([true, false], 1), ([true], 0), ([false, false], 2),
    ] as [([Bool], Int)])
  func `each connection that was opened counts once`(_ connections: [Bool], _ count: Int) throws {
    let report = try report()
    let address = IPAddress("127.0.0.1")
    let now = ResolverInstant(nanoseconds: 0)
    for isReused in connections { report.note(.connected(address, isReused: isReused), at: now) }
    report.note(
      .responded(
        HTTPResponse(status: .ok), over: ConnectionDetails(remoteAddress: address, remotePort: 80)), at: now)
    #expect(report.now.connects == count && report.now.remote?.address == address && report.now.remote?.port == 80)
  }

  @Test(arguments: [(.answered, 1), (.upstreamFailed, 1), (.upstreamFailed, 2)] as [(DnsctlCommands.ExitStatus, Int)])
  func `a connection that never took the request counts where there is no other`(
    _ status: DnsctlCommands.ExitStatus, _ opened: Int
  ) throws {
    let report = try report()
    let now = ResolverInstant(nanoseconds: 0)
    for _ in 0..<opened { report.note(.opened(IPAddress("192.0.2.1")), at: now) }
    #expect(report.now.remote?.address == IPAddress("192.0.2.1") && report.now.remote?.port == 80)
    if status == .answered { report.note(.connected(IPAddress("192.0.2.2"), isReused: false), at: now) }
    report.end(status, nil, at: now)
    #expect(report.now.connects == opened)
  }

  @Test func `a proxy is where the connection leads, whatever the response says of the server`() throws {
    let report = try report()
    let now = ResolverInstant(nanoseconds: 0)
    report.note(.connected(nil, isReused: false), at: now)
    let proxy = try #require(IPAddress("192.0.2.8"))
    report.note(.proxy(proxy, port: 3128), at: now)
    report.note(.responded(HTTPResponse(status: .ok), over: ConnectionDetails(remotePort: 80)), at: now)
    #expect(report.now.remote?.address == proxy && report.now.remote?.port == 3128)
  }

  @Test func `heads count as they came, those of all hops`() throws {
    let report = try report()
    for bytes in [70, 30] { report.note(.head(bytes: bytes), at: ResolverInstant(nanoseconds: 0)) }
    #expect(report.now.headSize == 100)
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
