// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

/// How far a request may go (RFC 9110 §7.6.2).
@Suite("Max-Forwards", .timeLimit(.minutes(1)))
struct MaxForwardsTests {
  private func read(_ fields: [String], _ method: String = "OPTIONS") throws -> MaxForwards {
    let lines = fields.map { "Max-Forwards: \($0)\r\n" }.joined()
    let head = try HeadParser.parse(Array("\(method) http://x/ HTTP/1.1\r\nHost: x\r\n\(lines)\r\n".utf8), .request)
    return MaxForwards(head, method: method)
  }

  @Test(
    arguments: [
      ("0", .end), ("00", .end), (" 0\t", .end), ("1", .forward(0)), ("010", .forward(9)), ("70", .forward(69)),
      ("2147483648", .forward(2_147_483_647)), ("99999999999999999999", .forward(2_147_483_647)),
      ("0000000000000000000000000000001", .forward(0)),
    ] as [(String, MaxForwards)])
  func `digits count, however many`(value: String, read: MaxForwards) throws {
    #expect(try self.read([value]) == read)
  }

  @Test(arguments: [["+0"], ["-0"], ["0x0"], ["0.0"], ["0 0"], ["0,0"], [""], ["٠"], ["0", "0"], ["0", "5"], []])
  func `what is no number, or stands there twice, does not count`(fields: [String]) throws {
    #expect(try read(fields) == .unlimited)
  }

  @Test(arguments: ["GET", "POST", "options"])
  func `other methods than OPTIONS go on whatever it says`(method: String) throws {
    #expect(try read(["0"], method) == .unlimited)
  }

  @Test(arguments: [("0", 200), ("+0", 204)])
  func `a request that may go no further is answered here`(value: String, status: Int) async throws {
    let origin = try await RawListener.start()
    let proxy = try await ProxyFixture()
    let client = try await proxy.client()
    try await client.send(
      "OPTIONS http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nMax-Forwards: \(value)\r\n\r\n")
    if status == 204 {
      let server = try await origin.connection()
      #expect(await server.receive("\r\n\r\n").contains("Max-Forwards: +0\r\n"))
      try await server.send("HTTP/1.1 204 Fine\r\n\r\n")
    }
    #expect(await client.receive("\r\n\r\n").hasPrefix("HTTP/1.1 \(status) "))
    await proxy.stop()
    await origin.stop()
  }
}
