// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSFoundation
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A session that goes direct beside the same session without the protocol, in front of nginx.
@Suite("URLSession, direct and by name", .enabled(if: NginxRecorder.missing.isEmpty, "not every program is installed"))
struct URLSessionTests {
  /// What a request is made of.
  enum Case: String, CaseIterable, Sendable {
    case plain
    case field
    case cookie
    case redirect
    case bytes
    case typedBytes
    case stream
    case empty

    func request(_ root: String) throws -> URLRequest {
      var request = URLRequest(
        url: try #require(URL(string: self == .redirect ? "\(root)/moved" : "\(root)/a%20b?c=d&e")))
      let body = Data("sku=A%26B&price=1.05".utf8)
      switch self {
      case .plain, .redirect, .cookie: break
      case .field: request.setValue("1, 2", forHTTPHeaderField: "X-Key")
      case .bytes:
        request.httpMethod = "POST"
        request.httpBody = body
      case .typedBytes:
        request.httpMethod = "PUT"
        request.httpBody = body
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
      case .stream:
        request.httpMethod = "PATCH"
        request.httpBodyStream = InputStream(data: body)
      case .empty: request.httpMethod = "DELETE"
      }
      return request
    }
  }

  @Test(arguments: Case.allCases)
  func `a server gets the same request, but for what the documentation lists`(_ sample: Case) async throws {
    try await NginxRecorder.running { server in
      let root = "http://localhost:\(server.httpPort)"
      let byName = try await record(sample.request(root), sample, direct: false)
      let direct = try await record(sample.request(root), sample, direct: true)
      #expect(direct == listed(byName))
    }
  }

  /// The request of a session by name with the differences that the article on URLSession lists.
  private func listed(_ record: NginxRecorder.Record) -> NginxRecorder.Record {
    var record = record
    record.fields.removeAll { $0[0] == "Connection" || $0 == ["Content-Length", "0"] }
    record.fields = record.fields.map { $0[0] == "User-Agent" ? ["User-Agent", "DirectDNS"] : $0 }
    record.fields.removeAll { $0[0] == "Accept" }
    let last = record.fields.lastIndex { $0[0].hasSuffix("-Encoding") } ?? 0
    record.fields.insert(["Accept", "*/*"], at: last + 1)
    return record
  }

  @Test func `a stream whose length the request tells is not sent in chunks`() async throws {
    try await NginxRecorder.running { server in
      var request = URLRequest(url: try #require(URL(string: "http://localhost:\(server.httpPort)/")))
      request.httpMethod = "PATCH"
      request.httpBodyStream = InputStream(data: Data("order".utf8))
      request.setValue("5", forHTTPHeaderField: "Content-Length")
      let record = try await record(request, .stream, direct: true)
      #expect(record.body == "order" && record.fields.contains(["Content-Length", "5"]))
      #expect(!record.fields.contains { $0[0] == "Transfer-Encoding" })
    }
  }

  @Test func `a GET may have a body`() async throws {
    try await NginxRecorder.running { server in
      var request = URLRequest(url: try #require(URL(string: "http://localhost:\(server.httpPort)/")))
      request.httpBody = Data("query".utf8)
      let record = try await record(request, .plain, direct: true)
      #expect(record.line == "GET / HTTP/1.1" && record.body == "query")
    }
  }

  @Test func `over TLS the name is verified, and HTTP/2 is spoken`() async throws {
    try await NginxRecorder.running { server in
      let request = URLRequest(url: try #require(URL(string: "https://\(server.host):\(server.port)/")))
      let record = try await record(request, .plain, direct: true, trusting: server.caFile, name: server.host)
      #expect(record.line == "GET / HTTP/2.0")
    }
  }

  private func record(
    _ request: URLRequest, _ sample: Case, direct: Bool, trusting authority: String? = nil, name: String? = nil
  ) async throws -> NginxRecorder.Record {
    let configuration = URLSessionConfiguration.ephemeral
    if sample == .cookie {
      let properties: [HTTPCookiePropertyKey: Any] = [.name: "a", .value: "1", .domain: "localhost", .path: "/"]
      configuration.httpCookieStorage?.setCookie(try #require(HTTPCookie(properties: properties)))
    }
    var resolving = ResolverConfiguration()
    if let name { resolving.localZones.pins[try HostName(name)] = [.ipv4(0x7F00_0001)] }
    var settings = DirectClientConfiguration()
    settings.policy = .any
    if let authority { settings.trust = TrustStore(privateAuthorities: [authority], environment: [:]) }
    let client = try DirectClient(settings, resolver: DirectResolver(resolving))
    if direct { configuration.goDirect(through: client) }
    let session = URLSession(configuration: configuration)
    let (data, _) = try await session.data(for: request)
    session.invalidateAndCancel()
    await client.shutdown(within: .zero)
    return try JSONDecoder().decode(NginxRecorder.Record.self, from: data)
  }
}
