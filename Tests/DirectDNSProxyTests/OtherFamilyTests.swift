// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSProxy
import Testing

@testable import DirectDNSTesting

/// RFC 8305 §3 in the proxy: the family that answers first leads nowhere, and the other one's answer is still to come.
@Suite(.timeLimit(.minutes(1)))
struct OtherFamilyTests {
  private static let name = "www.shop.test"

  enum Way: CaseIterable, Sendable {
    case tunnel, plain

    func request(port: UInt16) -> String {
      let place = "\(OtherFamilyTests.name):\(port)"
      switch self {
      case .tunnel: return "CONNECT \(place) HTTP/1.1\r\nHost: \(place)\r\n\r\n"
      case .plain: return "GET http://\(place)/ HTTP/1.1\r\nHost: \(place)\r\n\r\n"
      }
    }
  }

  private static func denying(_ network: String) throws -> AddressPolicy {
    AddressPolicy(.any, deniedNetworks: [try #require(IPNetwork(network))])
  }

  /// A name at ::1, which answers first, and perhaps at 127.0.0.1, whose answer is held back.
  private func fixture(_ late: String?, policy: AddressPolicy = .any) async throws -> ProxyFixture {
    let fixture = try await ProxyFixture(
      records: RecordTable { records in
        records.add(Self.name, "::1")
        if let late { records.add(Self.name, late) }
      }, policy: policy)
    fixture.provider.misbehave(.hold, when: { $0.type == .a })
    return fixture
  }

  /// Lets the held answer go when the first one is in use.
  private func answerLate(_ fixture: ProxyFixture) async throws {
    await fixture.provider.waitForHeld()
    _ = try await fixture.resolver.resolve(HostName(Self.name), options: LookupOptions(families: .ipv6))
    fixture.provider.release()
  }

  @Test(arguments: Way.allCases)
  func `its addresses are tried when they come, when the first ones have failed`(_ way: Way) async throws {
    let origin = try await RawListener.start()
    let fixture = try await fixture("127.0.0.1")
    let client = try await fixture.client()
    try await client.send(way.request(port: origin.port))
    try await answerLate(fixture)
    switch way {
    case .tunnel: #expect(await client.receive("\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
    case .plain:
      let server = try await origin.connection()
      await server.receive("\r\n\r\n")
      try await server.send("HTTP/1.1 204 None\r\n\r\n")
      #expect(await client.receive("\r\n\r\n").hasPrefix("HTTP/1.1 204 "))
    }
    await fixture.stop()
    await origin.stop()
  }

  @Test func `its addresses are awaited when the first ones are not allowed`() async throws {
    let origin = try await RawListener.start()
    let fixture = try await fixture("127.0.0.1", policy: Self.denying("::1/128"))
    let client = try await fixture.client()
    try await client.send(Way.tunnel.request(port: origin.port))
    try await answerLate(fixture)
    #expect(await client.receive("\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
    await fixture.stop()
    await origin.stop()
  }

  @Test func `they are judged, too`() async throws {
    let origin = try await RawListener.start()
    let fixture = try await fixture("127.0.0.1", policy: Self.denying("127.0.0.1/32"))
    let client = try await fixture.client()
    try await client.send(Way.tunnel.request(port: origin.port))
    try await answerLate(fixture)
    #expect(await client.receive("\r\n\r\n").hasPrefix("HTTP/1.1 502 "))
    #expect(origin.count == 0)
    await fixture.stop()
    await origin.stop()
  }

  @Test func `a family without addresses ends the race`() async throws {
    let origin = try await RawListener.start()
    let fixture = try await fixture(nil)
    let client = try await fixture.client()
    try await client.send(Way.tunnel.request(port: origin.port))
    try await answerLate(fixture)
    let refusal = await client.receive("\r\n\r\n")
    #expect(refusal.hasPrefix("HTTP/1.1 502 ") && refusal.contains("connection_refused"))
    #expect(await fixture.accesses(1).first?.error == "connection_refused")
    await fixture.stop()
    await origin.stop()
  }
}
