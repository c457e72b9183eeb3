// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Testing

@Suite(.enabled(if: BlackHole.missing == nil, "black holes cannot be had here"), .timeLimit(.minutes(1)))
struct BlackHoleTests {
  /// curl's exit statuses.
  private static let (refused, timedOut): (Int32, Int32) = (7, 28)

  @Test(arguments: [IPAddress.ipv4(0x7F00_0001), .ipv4(0x7F00_0909), .ipv6(high: 0, low: 1)])
  func `whoever connects hears nothing, and is refused once it is stopped`(address: IPAddress) async throws {
    let hole = try await BlackHole.start(address: address)
    let literal = address.family == .ipv6 ? "[\(address)]" : "\(address)"
    let url = "http://\(literal):\(hole.port)/"
    for _ in 0..<5 {
      let reply = try await Curl.run("--connect-timeout", "0.1", url)
      #expect(reply.exit == Self.timedOut)
    }
    await hole.stop()
    #expect(try await Curl.run(url).exit == Self.refused)
  }

  @Test func `a port of one's choice is taken`() async throws {
    try await withOrigin { origin async throws in
      let hole = try await BlackHole.start(address: .ipv4(0x7F00_0909), port: origin.port)
      #expect(hole.port == origin.port && hole.address == .ipv4(0x7F00_0909))
      #expect(try await Curl.run(origin.url()).exit == 0)
      await hole.stop()
    }
  }
}
