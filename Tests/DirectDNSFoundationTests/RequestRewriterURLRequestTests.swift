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

@Suite("Rewriting requests of URLSession", .timeLimit(.minutes(1)))
struct RequestRewriterURLRequestTests {
  private let address = IPAddress.ipv4(0xCB00_7107)
  private let rewriter = RequestRewriter(policy: .any)

  private func request(_ text: String, fields: [String: String] = [:]) throws -> URLRequest {
    var request = URLRequest(url: try #require(URL(string: text)))
    request.allHTTPHeaderFields = fields
    return request
  }

  private func direct(_ outcome: URLRequestOutcome) throws -> URLRequest {
    guard case .direct(let request, _) = outcome else {
      Issue.record("\(outcome)")
      throw CancellationError()
    }
    return request
  }

  private func bypassed(_ outcome: URLRequestOutcome) throws -> (
    request: URLRequest, reason: RewriteOutcome.BypassReason
  ) {
    guard case .bypassed(let request, let reason) = outcome else {
      Issue.record("\(outcome)")
      throw CancellationError()
    }
    return (request, reason)
  }

  private func error(_ outcome: URLRequestOutcome) throws -> DirectDNSError {
    guard case .refused(let error) = outcome else {
      Issue.record("\(outcome)")
      throw CancellationError()
    }
    return error
  }

  @Test(arguments: [
    ("http://www.example.com/x?q=1", "http://203.0.113.7/x?q=1", "www.example.com", "http://www.example.com/x?q=1"),
    ("http://www.example.com:8080", "http://203.0.113.7:8080/", "www.example.com:8080", "http://www.example.com:8080/"),
    ("http://www.example.com/x#part", "http://203.0.113.7/x", "www.example.com", "http://www.example.com/x"),
  ])
  func `the URL gets the address, and the name goes into Host and originalUrl`(
    _ url: String, _ moved: String, _ host: String, _ original: String
  ) throws {
    let request = try direct(rewriter.rewrite(try request(url), using: [address]))
    #expect(request.url?.absoluteString == moved)
    #expect(request.value(forHTTPHeaderField: "Host") == host)
    #expect(request.value(forHTTPHeaderField: "originalUrl") == original)
  }

  @Test func `blanks around a field's value are no reason to refuse a request`() throws {
    let request = try direct(
      rewriter.rewrite(try request("http://www.example.com/", fields: ["X-Own": " a b\t"]), using: [address]))
    #expect(request.value(forHTTPHeaderField: "X-Own")?.trimmingCharacters(in: .whitespaces) == "a b")
  }

  @Test func `an address of IPv6 stands in brackets`() throws {
    let address = try #require(IPAddress("2001:db8::1"))
    let request = try direct(rewriter.rewrite(try request("http://www.example.com/"), using: [address]))
    #expect(request.url?.absoluteString == "http://[2001:db8::1]/")
  }

  @Test func `user info becomes Authorization, and a Host of the caller's own stays`() throws {
    let request = try direct(
      rewriter.rewrite(try request("http://u:p@www.example.com/", fields: ["host": "own.example"]), using: [address]))
    #expect(request.url?.absoluteString == "http://203.0.113.7/")
    #expect(request.value(forHTTPHeaderField: "Authorization") == "Basic dTpw")
    #expect(request.value(forHTTPHeaderField: "Host") == "own.example")
  }

  @Test func `everything else about the request stays`() throws {
    var request = try request("http://www.example.com/", fields: ["X-A": "1", "Content-Type": "text/plain"])
    request.httpMethod = "PATCH"
    request.httpBody = Data("body".utf8)
    request.timeoutInterval = 7
    request.cachePolicy = .reloadIgnoringLocalCacheData
    let moved = try direct(rewriter.rewrite(request, using: [address]))
    #expect(moved.httpMethod == "PATCH")
    #expect(moved.httpBody == Data("body".utf8))
    #expect(moved.timeoutInterval == 7)
    #expect(moved.cachePolicy == .reloadIgnoringLocalCacheData)
    #expect(moved.value(forHTTPHeaderField: "X-A") == "1")
    #expect(moved.value(forHTTPHeaderField: "Content-Type") == "text/plain")
    #expect(!moved.httpShouldHandleCookies)
  }

  @Test(arguments: ["https://www.example.com/", "wss://www.example.com/"])
  func `over TLS a request is refused unless the caller says what is to become of it`(_ url: String) throws {
    let request = try request(url, fields: ["originalUrl": "http://foreign.example/"])
    let error = try error(rewriter.rewrite(request, using: [address]))
    #expect(error.code == .invalidRequest)
    #expect(error.message.contains("www.example.com"))

    let byName = try bypassed(rewriter.rewrite(request, using: [address], secure: .byName))
    #expect(byName.request.url?.absoluteString == url)
    #expect(byName.request.value(forHTTPHeaderField: "originalUrl") == nil)
    #expect(byName.reason == .secureByName)

    let byAddress = try direct(rewriter.rewrite(request, using: [address], secure: .byAddress))
    #expect(byAddress.url?.host == "203.0.113.7")
    #expect(byAddress.value(forHTTPHeaderField: "Host") == "www.example.com")
  }

  @Test func `a forbidden address is refused, also over TLS and by name`() throws {
    let rewriter = RequestRewriter()
    for url in ["http://www.example.com/", "https://www.example.com/", "http://2130706433/"] {
      let outcome = rewriter.rewrite(try request(url), using: [.ipv4(0x7F00_0001)], secure: .byName)
      #expect(try error(outcome).code == .addressForbidden)
    }
  }

  @Test func `what is not rewritten goes as it came, without a foreign originalUrl`() throws {
    for (url, addresses, proxy) in [
      ("http://203.0.113.7/", [address], false), ("ftp://www.example.com/", [address], false),
      ("http://www.example.com/", [], false), ("http://www.example.com/", [address], true),
    ] {
      let request = try request(url, fields: ["originalURL": "http://foreign.example/", "X-A": "1"])
      let bypassed = try bypassed(rewriter.rewrite(request, using: addresses, throughProxy: proxy)).request
      #expect(bypassed.url?.absoluteString == url)
      #expect(bypassed.allHTTPHeaderFields == ["X-A": "1"])
    }
  }

  @Test func `rewriting twice is the same as once`() throws {
    let once = try direct(rewriter.rewrite(try request("http://www.example.com/x"), using: [address]))
    let twice = try bypassed(rewriter.rewrite(once, using: [address])).request
    #expect(twice == once)
  }

  @Test(arguments: ["http://203.0.113.7./x", "http://0xcb.0.0x7107/x", "http://203.0.113.7/a/../x"])
  func `what was rewritten before goes where it was judged, however its address is spelled`(_ url: String) throws {
    let fields = ["Host": "www.example.com", "originalUrl": "http://www.example.com/x"]
    let outcome = try bypassed(rewriter.rewrite(try request(url, fields: fields), using: [address]))
    #expect(outcome.reason == .alreadyRewritten && outcome.request.url?.absoluteString == "http://203.0.113.7/x")
    #expect(outcome.request.allHTTPHeaderFields == fields)
  }

  // MARK: What URLSession makes of it

  @Test func `URLSession sends the name as Host to the address`() async throws {
    let origin = try await FakeOrigin.start { _ in
      OriginResponse(fields: [.setCookie: "a=1", .location: "/next"])
    }
    let url = "http://www.example.com:\(origin.port)/x?q=1"
    let (response, restorer) = try await sent(url)
    let request = try #require(origin.requests.first)
    #expect(request.target == "/x?q=1")
    #expect(request.fields[values: .hostField] == ["www.example.com:\(origin.port)"])
    #expect(request.fields[values: .originalURL] == [url])

    let restored = try #require(restorer.restore(response))
    #expect(restored.url?.absoluteString == url)
    #expect(restored.value(forHTTPHeaderField: "Location") == "http://www.example.com:\(origin.port)/next")
    await origin.stop()
  }

  @Test func `URLSession keeps several cookies apart well enough to restore each`() async throws {
    let fields: HTTPFields = [
      .setCookie: "a=1; Domain=127.0.0.1; Expires=Wed, 21 Oct 2099 07:28:00 GMT",
      .setCookie: "b=2; Path=/", .setCookie: "c=3",
    ]
    let origin = try await FakeOrigin.start { _ in OriginResponse(fields: fields) }
    let (response, restorer) = try await sent("http://www.example.com:\(origin.port)/")
    #expect(
      restorer.setCookies(of: response) == ["a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT", "b=2; Path=/", "c=3"])
    await origin.stop()
  }

  @Test func `a session without a storage neither gets cookies nor gives them to an address`() async throws {
    let origin = try await FakeOrigin.start { _ in OriginResponse(fields: [.setCookie: "new=1"]) }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpCookieStorage = nil
    let session = URLSession(configuration: configuration)
    let request = try direct(
      rewriter.rewrite(try request("http://www.example.com:\(origin.port)/"), using: [.ipv4(0x7F00_0001)]))
    for _ in 1...2 { _ = try await session.data(for: request) }
    #expect(origin.requests.map { $0.field("Cookie") } == [nil, nil])
    await origin.stop()
  }

  @Test func `a session with a storage keeps it out of what it was told not to handle`() async throws {
    let origin = try await FakeOrigin.start { _ in OriginResponse(fields: [.setCookie: "new=1"]) }
    let configuration = URLSessionConfiguration.ephemeral
    let storage = try #require(configuration.httpCookieStorage)
    let request = try direct(
      rewriter.rewrite(try request("http://www.example.com:\(origin.port)/"), using: [.ipv4(0x7F00_0001)]))
    _ = try await URLSession(configuration: configuration).data(for: request)
    #if canImport(FoundationNetworking)
      withKnownIssue("swift-corelibs-foundation does not heed httpShouldHandleCookies") {
        #expect(storage.cookies?.isEmpty == true)
      }
    #else
      #expect(storage.cookies?.isEmpty == true)
    #endif
    await origin.stop()
  }

  /// Rewrites a request to go to this machine, and has URLSession send it.
  private func sent(_ url: String) async throws -> (HTTPURLResponse, ResponseRestorer) {
    let outcome = rewriter.rewrite(try request(url), using: [.ipv4(0x7F00_0001)])
    guard case .direct(let request, let direct) = outcome else { throw CancellationError() }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpCookieStorage = nil
    let (_, response) = try await URLSession(configuration: configuration).data(for: request)
    return (try #require(response as? HTTPURLResponse), ResponseRestorer(for: direct))
  }
}
