// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

/// Heads whose first line begins with a blank: libcurl before 8.1.1 appends it to a field of the response before, whose
/// memory it has freed, if one of its handles has had any.
extension BrokenOriginTests {
  private static func answer(_ line: String) -> String {
    "HTTP/1.1 200 OK\r\n\(line)\r\nContent-Type: application/dns-json\r\nContent-Length: 13\r\n\r\n{\"Status\": 0}"
  }

  @Test(arguments: [" X-Lead: y", "\tX-Lead: y", " ", " no colon", "  \(String(repeating: "a", count: 5_000))"])
  func `a head that begins with a folded line harms nothing, whatever came before`(_ line: String) async throws {
    try await staged(handler: { request in
      if request.path == "/" { throw OriginFault.text(Self.answer(line)) }
      return request.path == "/moved"
        ? OriginResponse(.found, fields: [.location: "/"]) : OriginResponse(fields: [.server: "x"], body: "fine")
    }) { fixture in
      for round in 0..<8 {
        try await fixture.warm()
        let path = round % 2 == 0 ? "/" : "/moved"
        // Whether it counts as a response is libcurl's to say.
        _ = try? await fixture.client.execute(fixture.request(.get, path)).body.text()
        #expect(try await fixture.client.execute(fixture.request(.get, "/warm")).body.text() == "fine")
      }
      #expect(fixture.arrived().count >= 8)
    }
  }

  @Test(arguments: [HTTPProtocolVersion.http1, .http2])
  func `neither does it where the origin has spoken another version before`(_ before: HTTPProtocolVersion) async throws
  {
    let authority = try TestCertificateAuthority()
    let file = try authority.makeFile()
    var configuration = FakeOriginConfiguration(identity: try authority.issue(names: ["shop.test"]))
    configuration.httpVersions = [before]
    let client = try ClientSample.client {
      $0.trust = TrustStore(privateAuthorities: [file.path], environment: [:])
    }
    var origin = try await FakeOrigin.start(configuration: configuration) { _ in OriginResponse(body: "fine") }
    let request = HTTPRequest(method: .get, url: try WebURL(origin.url("/", host: "shop.test")))
    for _ in 0..<4 { #expect(try await client.execute(request).body.text() == "fine") }
    configuration.port = origin.port
    await origin.stop()
    configuration.httpVersions = [.http1]
    origin = try await FakeOrigin.start(configuration: configuration) { _ in
      throw OriginFault.text(Self.answer(" X-Lead: y"))
    }
    for _ in 0..<8 { _ = try? await client.execute(request).body.text() }
    #expect(origin.requests.count >= 8 && origin.requests.allSatisfy { $0.version == .http1 })
    await client.shutdown(within: .zero)
    await origin.stop()
    withExtendedLifetime(file) {}
  }

  @Test func `neither does it in a reply to a DNS query`() async throws {
    let origin = try await FakeOrigin.start { request in
      if request.path == "/folded" { throw OriginFault.text(Self.answer(" X-Lead: y")) }
      return OriginResponse(fields: [.contentType: "application/dns-json"], body: "{\"Status\": 0}")
    }
    let transport = try CurlTransport()
    let endpoint = HTTPEndpoint(url: try WebURL(origin.url("/", host: "127.0.0.1")))
    for _ in 0..<8 {
      for path in ["/", "/folded", "/"] {
        let reply = try? await transport.send(
          HTTPMessage(url: "\(endpoint.origin)\(path)"), to: endpoint, timeout: .seconds(20))
        if path == "/" { #expect(reply?.status.code == 200) }
      }
    }
    #expect(origin.requests.count >= 24)
    transport.shutdown()
    await origin.stop()
  }
}
