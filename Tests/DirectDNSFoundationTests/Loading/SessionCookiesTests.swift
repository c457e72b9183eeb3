// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSFoundation
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("Cookies of a session that goes direct", .timeLimit(.minutes(2)))
struct SessionCookiesTests {
  private func file(_ name: String, path: String = "/", in storage: HTTPCookieStorage) throws {
    let properties: [HTTPCookiePropertyKey: Any] = [.name: name, .value: "1", .domain: "shop.test", .path: path]
    storage.setCookie(try #require(HTTPCookie(properties: properties)))
  }

  private func names(_ storage: HTTPCookieStorage) -> [String] { (storage.cookies ?? []).map(\.name).sorted() }

  @Test func `what a response sets is stored, sent back, and taken out again`() async throws {
    let origin = try await FakeOrigin.start { request in
      switch request.path {
      case "/in":
        OriginResponse(
          fields: HTTPFields([
            HTTPField(name: .setCookie, value: "a=1; Expires=Wed, 01 Jan 2098 00:00:00 GMT"),
            HTTPField(name: .setCookie, value: "b=2; Path=/x"),
            HTTPField(name: .setCookie, value: "c=3; Domain=test"),
          ]))
      case "/out": OriginResponse(fields: [.setCookie: "a=; Max-Age=0"])
      default: OriginResponse.echo(of: request)
      }
    }
    let direct = try DirectSession()
    _ = try await direct.text(origin.url("/in", host: "shop.test"))
    #expect(names(direct.storage) == ["a", "b"])
    #expect(try await direct.text(origin.url("/", host: "shop.test")).text.contains("Cookie: a=1\r\n"))
    _ = try await direct.text(origin.url("/x", host: "shop.test"))
    #expect(origin.requests.last?.fields[values: .cookie] == ["b=2; a=1"])
    _ = try await direct.text(origin.url("/out", host: "shop.test"))
    #expect(names(direct.storage) == ["b"])
    #expect(try await !direct.text(origin.url("/", host: "shop.test")).text.contains("Cookie"))
    await direct.end()
    await origin.stop()
  }

  @Test func `a redirect's cookies are stored before the next request, and each hop gets its own`() async throws {
    let origin = try await FakeOrigin.start { request in
      request.path == "/in"
        ? OriginResponse(.found, fields: [.location: "/next", .setCookie: "new=1"]) : OriginResponse.echo(of: request)
    }
    let direct = try DirectSession()
    try file("old", path: "/in", in: direct.storage)
    let text = try await direct.text(origin.url("/in", host: "shop.test")).text
    #expect(origin.requests.first?.fields[.cookie] == "old=1")
    #expect(text.contains("Cookie: new=1\r\n") && !text.contains("old"))
    await direct.end()
    await origin.stop()
  }

  @Test func `a request that handles no cookies sends and stores none, but its own`() async throws {
    let origin = try await FakeOrigin.start { _ in OriginResponse(fields: [.setCookie: "a=1"]) }
    let direct = try DirectSession()
    _ = try await direct.text(
      try DirectSession.request(origin.url("/", host: "shop.test")) {
        $0.httpShouldHandleCookies = false
        $0.setValue("own=1", forHTTPHeaderField: "Cookie")
      })
    #expect(names(direct.storage).isEmpty && origin.requests.first?.fields[.cookie] == "own=1")
    await direct.end()
    await origin.stop()
  }

  @Test func `a request that handles no cookies goes without the session's, after a redirect too`() async throws {
    let origin = try await FakeOrigin.start { request in
      request.path == "/go" ? OriginResponse(.found, fields: [.location: "/"]) : OriginResponse.echo(of: request)
    }
    let direct = try DirectSession()
    try file("a", in: direct.storage)
    for path in ["/", "/go"] {
      let request = try DirectSession.request(origin.url(path, host: "shop.test")) {
        $0.httpShouldHandleCookies = false
      }
      #expect(try await !direct.text(request).text.contains("Cookie"))
    }
    #expect(origin.requests.map(\.path) == ["/", "/go", "/"])
    #expect(origin.requests.allSatisfy { $0.fields[.cookie] == nil })
    await direct.end()
    await origin.stop()
  }

  @Test func `the request's own cookies go where the configuration sets none`() async throws {
    let origin = try await FakeOrigin.start()
    let direct = try DirectSession(configuration: { $0.httpShouldSetCookies = false })
    try file("a", in: direct.storage)
    for handles in [true, false] {
      let request = try DirectSession.request(origin.url("/", host: "shop.test")) {
        $0.httpShouldHandleCookies = handles
        $0.setValue("own=1", forHTTPHeaderField: "Cookie")
      }
      #expect(try await direct.text(request).text.contains("Cookie: own=1\r\n"))
    }
    await direct.end()
    await origin.stop()
  }

  @Test func `cookies of one path are sent in the order in which they came`() async throws {
    let names = (0..<12).map { "c\($0)" }
    let origin = try await FakeOrigin.start { request in
      request.path == "/in"
        ? OriginResponse(fields: HTTPFields(names.map { HTTPField(name: .setCookie, value: "\($0)=1; Path=/") }))
        : OriginResponse.echo(of: request)
    }
    let direct = try DirectSession()
    _ = try await direct.text(origin.url("/in", host: "shop.test"))
    _ = try await direct.text(origin.url("/", host: "shop.test"))
    #expect(origin.requests.last?.fields[.cookie] == names.map { "\($0)=1" }.joined(separator: "; "))
    await direct.end()
    await origin.stop()
  }

  @Test(arguments: [
    ("shop.test", "http://shop.test/", true), ("shop.test", "http://a.shop.test/", true),
    ("shop.test", "http://workshop.test/", false), ("127.0.0.1", "http://127.0.0.1/", true),
    ("127.0.0.1", "http://7.127.0.0.1.test/", false), ("::1", "http://[::1]/", true), ("::1", "http://[::2]/", false),
  ])
  func `a document's own host is its main host in any spelling`(
    host: String, document: String, isStored: Bool
  ) async throws {
    let address = try #require(IPAddress(host == "::1" ? host : "127.0.0.1"))
    let origin = try await FakeOrigin.start(configuration: .init(address: address)) { _ in
      OriginResponse(fields: [.setCookie: "a=1"])
    }
    let direct = try DirectSession(configuration: { $0.httpCookieAcceptPolicy = .onlyFromMainDocumentDomain })
    _ = try await direct.text(
      try DirectSession.request(origin.url("/", host: host == "::1" ? "[::1]" : host)) {
        $0.mainDocumentURL = URL(string: document)
      })
    #expect(names(direct.storage) == (isStored ? ["a"] : []))
    await direct.end()
    await origin.stop()
  }

  @Test(arguments: [HTTPCookie.AcceptPolicy.always, .never, .onlyFromMainDocumentDomain])
  func `the configuration's policy says what is stored`(_ policy: HTTPCookie.AcceptPolicy) async throws {
    let origin = try await FakeOrigin.start { request in
      OriginResponse(fields: [.setCookie: "\(request.path.dropFirst())=1"])
    }
    let direct = try DirectSession(configuration: { $0.httpCookieAcceptPolicy = policy })
    for (path, document) in [("own", "http://www.shop.test/"), ("foreign", "http://other.test/")] {
      _ = try await direct.text(
        try DirectSession.request(origin.url("/\(path)", host: "shop.test")) {
          $0.mainDocumentURL = URL(string: document)
        })
    }
    let expected: [HTTPCookie.AcceptPolicy: [String]] = [
      .always: ["foreign", "own"], .never: [], .onlyFromMainDocumentDomain: ["own"],
    ]
    #expect(names(direct.storage) == expected[policy])
    await direct.end()
    await origin.stop()
  }

  @Test func `a session that keeps no cookies of its own sends none`() async throws {
    let origin = try await FakeOrigin.start()
    let direct = try DirectSession(configuration: { $0.httpShouldSetCookies = false })
    try file("a", in: direct.storage)
    #expect(try await !direct.text(origin.url("/", host: "shop.test")).text.contains("Cookie"))
    await direct.end()
    await origin.stop()
  }
}
