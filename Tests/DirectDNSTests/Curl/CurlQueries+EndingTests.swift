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
}
