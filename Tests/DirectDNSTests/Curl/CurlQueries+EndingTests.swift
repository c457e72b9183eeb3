// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

/// Connections that end under a request, or that nothing comes from any more.
@Suite(.timeLimit(.minutes(1)))
struct CurlQueriesEndingTests {
  @Test(arguments: [Misbehaviour.close, .reset, .goAway(processed: false)], [HTTPProtocolVersion.http2, .http1])
  func `a query whose connection ends without a word of reply is sent again, once`(
    _ what: Misbehaviour, _ version: HTTPProtocolVersion
  ) async throws {
    try await ProviderFixture.secure([version]) { fixture async throws in
      for isNew in [true, false] {
        if !isNew { try await fixture.send() }
        let before = fixture.server.requests.count
        fixture.server.misbehave(what, times: 1)
        #expect(try await fixture.send().status.code == 200)
        #expect(fixture.server.requests.count == before + 2)
        await fixture.server.closeConnections()
      }
    }
  }

  @Test func `a query that has got a part of its reply is not sent again`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(.truncatedBody, times: 1)
      guard case .connectionLost = await fixture.failure() else {
        Issue.record("not lost")
        return
      }
      #expect(fixture.server.requests.count == 1)
    }
  }

  @Test func `a connection on which a query timed out, and nothing was answered for a second, serves no longer`()
    async throws
  {
    try await ProviderFixture.secure { fixture async throws in
      try await fixture.send()
      fixture.server.misbehave(.hang, when: { $0.connection == 1 })
      // It is sent on the same connection, and again on the next one.
      let other = fixture.begin("/resolve?name=other.flood.test")
      // One alone: of several whose times make up the second, the first would end the connection on a slow machine.
      #expect(await fixture.failure(timeout: .milliseconds(1_200)) == .timedOut)
      #expect(try await other.value.get().status.code == 200)
      #expect(try await fixture.send().status.code == 200)
      #expect(fixture.server.connectionCount == 2)
    }
  }

  @Test func `a query that times out alone costs its connection nothing`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(.hang, when: { $0.name == "slow.flood.test" })
      let slow = fixture.begin("/resolve?name=slow.flood.test", timeout: .seconds(3))
      try await fixture.send()
      #expect(await slow.value.failure == .timedOut)
      try await fixture.send()
      #expect(fixture.server.connectionCount == 1)
    }
  }
}
