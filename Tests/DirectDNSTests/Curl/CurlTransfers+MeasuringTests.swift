// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct CurlTransfersMeasuringTests {
  private static let head =
    "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Location: /a\r\nContent-Length: 4\r\n\r\n"

  /// What is told of a request, whether it succeeds or not.
  private func told(_ client: DirectClient, _ url: String) async throws -> [WireEvent] {
    let events = Locked<[WireEvent]>([])
    var options = RequestOptions(observer: { _ in })
    options.wireObserver = { event in events.withLock { $0.append(event) } }
    _ = try? await client.execute(ClientSample.get(url), options: options).body.text()
    await client.shutdown()
    return events.withLock { $0 }
  }

  @Test(arguments: [false, true])
  func `a head is told as it came, and a connection that has to be secured first`(_ usesTLS: Bool) async throws {
    let authority = try TestCertificateAuthority()
    let identity = try usesTLS ? authority.issue(names: ["shop.test"]) : nil
    let origin = try await FakeOrigin.start(configuration: FakeOriginConfiguration(identity: identity)) { _ in
      throw OriginFault.text(Self.head + "body")
    }
    let file = try authority.makeFile()
    let client = try ClientSample.client {
      $0.trust = TrustStore(privateAuthorities: [file.path], environment: [:])
      $0.httpVersion = .http1
    }
    let opened = usesTLS ? [WireEvent.opened(IPAddress("127.0.0.1"))] : []
    let events = try await told(client, origin.url("/", host: "shop.test"))
    #expect(events == opened + [.response, .head(bytes: Self.head.utf8.count)])
    await origin.stop()
  }

  @Test(arguments: ["http", "https"])
  func `where the connection to a proxy leads is told, also if it opens no tunnel`(_ scheme: String) async throws {
    let refusal = "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"
    let origin = try await FakeOrigin.start { _ in throw OriginFault.text(refusal) }
    let proxy = try WebURL(origin.url("/", host: "127.0.0.1"))
    let client = try ClientSample.client { $0.proxy = .url(proxy, except: "") }
    let place = WireEvent.proxy(try #require(IPAddress("127.0.0.1")), port: UInt16(origin.port))
    let events = try await told(client, "\(scheme)://shop.test/")
    let expected: [WireEvent] =
      scheme == "http" ? [place, .response, .head(bytes: refusal.utf8.count)] : [.opened(nil), place]
    #expect(events == expected)
    await origin.stop()
  }
}
