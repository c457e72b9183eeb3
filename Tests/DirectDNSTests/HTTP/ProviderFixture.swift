// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import HTTPTypes

@testable import DirectDNS

/// A fake provider and a transport that reaches it, for as long as a test needs them.
struct ProviderFixture: Sendable {
  let server: FakeProvider
  let transport: CurlTransport
  let endpoint: HTTPEndpoint

  /// The name in the certificate and in the URL.
  static let host = "doh.test"

  static let records = RecordTable { table in
    table.add("www.shop.test", "192.0.2.1", "2001:db8::1", ttl: 60)
    table.alias("alias.shop.test", to: "www.shop.test", ttl: 20)
    table.synthesise { name, type in
      guard name.hasSuffix(".flood.test") else { return nil }
      return type == .a ? [.address(name, .ipv4(0xC000_0207))] : []
    }
  }

  /// Longer than hundreds of requests at once take on a busy machine under a sanitizer.
  static let usualTimeout = Duration.seconds(50)

  /// Sends one request.
  @discardableResult
  func send(
    _ path: String = "/resolve?name=www.shop.test", fields: HTTPFields = [:], timeout: Duration = usualTimeout
  ) async throws(HTTPTransportError) -> HTTPReply {
    try await transport.send(
      HTTPMessage(url: "\(endpoint.origin)\(path)", fields: fields), to: endpoint, timeout: timeout)
  }

  /// What became of one request: nothing for a reply, or the error.
  func failure(_ path: String = "/resolve?name=www.shop.test", timeout: Duration = usualTimeout) async
    -> HTTPTransportError?
  {
    do throws(HTTPTransportError) {
      try await send(path, timeout: timeout)
      return nil
    } catch {
      return error
    }
  }

  /// Begins a request now, so that requests begun one after the other are queued in that order.
  func begin(_ path: String = "/resolve?name=www.shop.test", timeout: Duration = usualTimeout) -> Task<
    Result<HTTPReply, HTTPTransportError>, Never
  > {
    Task.immediate {
      do throws(HTTPTransportError) {
        return .success(try await send(path, timeout: timeout))
      } catch {
        return .failure(error)
      }
    }
  }

  /// Plain HTTP/1.1 at an address.
  static func plain<Result>(
    connections: Int = 32, _ body: (ProviderFixture) async throws -> Result
  ) async throws -> Result {
    let server = try await FakeProvider.start(records: records)
    let transport = try CurlTransport(connections: connections)
    return try await lend(
      ProviderFixture(
        server: server, transport: transport, endpoint: HTTPEndpoint(url: try WebURL(server.baseURL))),
      body)
  }

  /// TLS under a name that is reached by its address.
  static func secure<Result>(
    _ versions: [HTTPProtocolVersion] = [.http2, .http1], streams: Int = 100,
    _ body: (ProviderFixture) async throws -> Result
  ) async throws -> Result {
    let authority = try TestCertificateAuthority()
    let configuration = FakeProviderConfiguration(
      identity: try authority.issue(names: [host]), httpVersions: versions, maxConcurrentStreams: streams)
    let server = try await FakeProvider.start(records: records, configuration: configuration)
    return try await authority.withCAFile { path async throws in
      let transport = try CurlTransport(trust: TrustStore(privateAuthorities: [path], environment: [:]))
      let endpoint = HTTPEndpoint(url: try WebURL(server.url(host: host)), addresses: [.ipv4(0x7F00_0001)])
      return try await lend(ProviderFixture(server: server, transport: transport, endpoint: endpoint), body)
    }
  }

  private static func lend<Result>(
    _ fixture: ProviderFixture, _ body: (ProviderFixture) async throws -> Result
  ) async throws -> Result {
    do {
      let result = try await body(fixture)
      fixture.transport.shutdown()
      await fixture.server.stop()
      return result
    } catch {
      fixture.transport.shutdown()
      await fixture.server.stop()
      throw error
    }
  }
}
