// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct RequestRewriterTests {
  private static let address = IPAddress.ipv4(0x0808_0808)  // 8.8.8.8
  private static let ipv6 = IPAddress("2606:4700::7")

  private func rewrite(
    _ url: String, _ fields: HTTPFields = [:], form: DirectRequest.Form = .literal, to answer: [IPAddress] = [address]
  ) throws -> DirectRequest {
    let request = HTTPRequest(url: try WebURL(url), headerFields: fields)
    return try #require(RequestRewriter(form: form).rewrite(request, using: answer).direct)
  }

  private func reason(_ outcome: RewriteOutcome) -> RewriteOutcome.BypassReason? {
    if case .bypassed(_, let reason) = outcome { reason } else { nil }
  }

  private func refusal(_ outcome: RewriteOutcome) -> DirectDNSError.Code? {
    if case .refused(let error) = outcome { error.code } else { nil }
  }

  // MARK: The literal form

  @Test(arguments: [
    ("http://shop.test", "http://8.8.8.8/", "shop.test", "http://shop.test/"),
    ("https://shop.test/a/../b?q=%7e#f", "https://8.8.8.8/b?q=%7e", "shop.test", "https://shop.test/b?q=%7e"),
    ("http://shop.test:80/", "http://8.8.8.8/", "shop.test", "http://shop.test/"),
    ("https://shop.test:8443/", "https://8.8.8.8:8443/", "shop.test:8443", "https://shop.test:8443/"),
    ("http://u:p@shop.test/", "http://8.8.8.8/", "shop.test", "http://u:p@shop.test/"),
    ("http://shop.test./", "http://8.8.8.8/", "shop.test.", "http://shop.test./"),
    ("http://Bücher.test/", "http://8.8.8.8/", "xn--bcher-kva.test", "http://xn--bcher-kva.test/"),
    ("ws://shop.test/chat?", "ws://8.8.8.8/chat?", "shop.test", "ws://shop.test/chat?"),
  ])
  func `the address stands in the URL, the name in Host and originalUrl`(
    _ url: String, _ sent: String, _ host: String, _ original: String
  ) throws {
    let direct = try rewrite(url)
    #expect(direct.url.href == sent)
    #expect(direct.host == host)
    #expect(try WebURL(direct.request).href == sent)
    #expect(direct.request.headerFields[values: .hostField] == [host])
    #expect(direct.request.headerFields[values: .originalURL] == [original])
    #expect(direct.originalURLField == original)
    #expect(direct.originalURL == (try WebURL(url)))
  }

  @Test func `a scheme in capitals goes out in small letters`() throws {
    let request = HTTPRequest(method: .get, scheme: "HTTP", authority: "shop.test", path: "/")
    let direct = try #require(RequestRewriter(form: .literal).rewrite(request, using: [Self.address]).direct)
    #expect(direct.request.scheme == "http")
  }

  @Test func `an IPv6 address stands in brackets`() throws {
    let direct = try rewrite("https://shop.test:8443/x", to: [try #require(Self.ipv6)])
    #expect(direct.url.href == "https://[2606:4700::7]:8443/x")
    #expect(direct.request.authority == "[2606:4700::7]:8443")
    #expect(direct.port == 8443)
  }

  @Test func `originalUrl goes out under that name, and Host goes first`() throws {
    let fields = try rewrite("http://shop.test/", [.accept: "*/*"]).request.headerFields
    #expect(fields.map(\.name.rawName) == ["Host", "Accept", "originalUrl"])
  }

  // MARK: The pinned form

  @Test(arguments: ["https://shop.test:8443/x?y", "http://shop.test./", "wss://xn--bcher-kva.test/"])
  func `in the pinned form the request keeps the name and gets nothing new`(_ url: String) throws {
    let direct = try rewrite(url, form: .pinned)
    #expect(direct.url.href == url)
    #expect(try WebURL(direct.request).href == url)
    #expect(direct.request.headerFields == [:])
    #expect(direct.address == Self.address)
  }

  // MARK: Both forms

  @Test(arguments: DirectRequest.Form.allCases)
  func `the server's name goes with TLS alone, and without a final dot`(_ form: DirectRequest.Form) throws {
    #expect(try rewrite("https://shop.test./", form: form).serverName?.text == "shop.test")
    #expect(try rewrite("wss://shop.test/", form: form).serverName?.text == "shop.test")
    #expect(try rewrite("http://shop.test/", form: form).serverName == nil)
  }

  @Test(arguments: DirectRequest.Form.allCases)
  func `user info becomes Authorization, percent-decoded`(_ form: DirectRequest.Form) throws {
    #expect(
      try rewrite("http://a%40b:p%C3%A4ss@shop.test/", form: form).request.headerFields[.authorization]
        == "Basic YUBiOnDDpHNz")
    #expect(try rewrite("http://user@shop.test/", form: form).request.headerFields[.authorization] == "Basic dXNlcjo=")
    #expect(try rewrite("http://shop.test/", form: form).request.headerFields[.authorization] == nil)
  }

  @Test(arguments: DirectRequest.Form.allCases)
  func `a caller's own Authorization and Host stay`(_ form: DirectRequest.Form) throws {
    let direct = try rewrite(
      "http://u:p@shop.test/", [.authorization: "Bearer t", .hostField: "other.test"], form: form)
    #expect(direct.request.headerFields[values: .authorization] == ["Bearer t"])
    #expect(direct.request.headerFields[values: .hostField] == ["other.test"])
    #expect(direct.host == "other.test")
  }

  @Test(arguments: DirectRequest.Form.allCases)
  func `method and all other fields pass in their order`(_ form: DirectRequest.Form) throws {
    var request = HTTPRequest(method: .post, url: try WebURL("http://shop.test/"))
    request.headerFields = [.contentType: "text/plain", .contentLength: "3", .accept: "a"]
    request.headerFields.append(HTTPField(name: .accept, value: "b"))
    let direct = try #require(RequestRewriter(form: form).rewrite(request, using: [Self.address]).direct)
    #expect(direct.request.method == .post)
    let kept = direct.request.headerFields.filter { $0.name != .hostField && $0.name != .originalURL }
    #expect(kept.map(\.value) == ["text/plain", "3", "a", "b"])
  }

  @Test(arguments: DirectRequest.Form.allCases)
  func `an originalUrl from outside is taken away`(_ form: DirectRequest.Form) throws {
    let direct = try rewrite("http://shop.test/", [.originalURL: "http://evil.test/"], form: form)
    #expect(direct.request.headerFields[values: .originalURL] == (form == .literal ? ["http://shop.test/"] : []))
  }

  @Test(
    arguments: DirectRequest.Form.allCases,
    [
      "http://shop.test/x#f", "https://u:p@shop.test:8443/?q", "ws://shop.test./", "https://Bücher.test/a/./b",
    ])
  func `rewriting twice is the same as once`(_ form: DirectRequest.Form, _ url: String) throws {
    let once = try rewrite(url, form: form).request
    switch RequestRewriter(form: form).rewrite(once, using: [Self.address]) {
    case .direct(let twice): #expect(twice.request == once)
    case .bypassed(let twice, let reason):
      #expect(reason == .alreadyRewritten)
      #expect(twice == once)
    case .refused(let error): Issue.record(error)
    }
  }

  @Test func `the allowed addresses stay in their order, the answer stays whole`() throws {
    let answer = ["10.0.0.1", "9.9.9.9", "127.0.0.1", "8.8.4.4"].compactMap { IPAddress($0) }
    let direct = try rewrite("http://shop.test/", to: answer)
    #expect(direct.addresses.map(\.description) == ["9.9.9.9", "8.8.4.4"])
    #expect(direct.url.href == "http://9.9.9.9/")
    #expect(direct.answer == answer)
  }

  // MARK: What is not rewritten

  @Test func `what is not rewritten says why`() throws {
    let rewriter = RequestRewriter(direct: .offUnder([try HostName("left.test")]))
    func rewrite(_ url: String, to answer: [IPAddress] = [Self.address], proxy: Bool = false) throws
      -> RewriteOutcome.BypassReason?
    {
      reason(rewriter.rewrite(HTTPRequest(url: try WebURL(url)), using: answer, throughProxy: proxy))
    }
    #expect(try rewrite("http://8.8.4.4/") == .addressLiteral)
    #expect(try rewrite("http://[2606:4700::7]/") == .addressLiteral)
    #expect(try rewrite("http://left.test/") == .directOff)
    #expect(try rewrite("http://www.left.test/") == .directOff)
    #expect(try rewrite("http://notleft.test/") == nil)
    #expect(try rewrite("http://shop.test/", proxy: true) == .proxy)
    #expect(try rewrite("http://shop.test/", to: []) == .noAddress)
    let other = HTTPRequest(method: .get, scheme: "ftp", authority: "shop.test", path: "/")
    #expect(reason(rewriter.rewrite(other, using: [Self.address])) == .otherScheme)
  }

  @Test func `what is not rewritten is handed back as it came, without a foreign originalUrl`() throws {
    let fields: HTTPFields = [.accept: "x", .originalURL: "http://evil.test/"]
    let request = HTTPRequest(url: try WebURL("http://u:p@8.8.4.4/#f"), headerFields: fields)
    guard case .bypassed(let back, _) = RequestRewriter().rewrite(request, using: []) else {
      Issue.record("not bypassed")
      return
    }
    #expect(back.authority == request.authority)
    #expect(back.path == request.path)
    #expect(back.headerFields == [.accept: "x"])
  }

  @Test(arguments: [
    "http://8.8.4.4/", "http://u:p@shop.test/", "http://shop.test/other", "http://shop.test:81/", "nonsense",
  ])
  func `an originalUrl that is not this URL's own makes no rewritten request of it`(_ original: String) throws {
    let request = HTTPRequest(
      url: try WebURL("http://8.8.8.8/"), headerFields: [.hostField: "shop.test", .originalURL: original])
    let outcome = RequestRewriter().rewrite(request, using: [])
    // User info is no part of what is sent, so this one could be ours.
    #expect(reason(outcome) == (original.contains("u:p") ? .alreadyRewritten : .addressLiteral))
  }

  @Test func `an originalUrl with a fragment is none of ours`() throws {
    let fields: HTTPFields = [.hostField: "shop.test", .originalURL: "http://shop.test/#f"]
    let request = HTTPRequest(url: try WebURL("http://8.8.8.8/#f"), headerFields: fields)
    #expect(reason(RequestRewriter().rewrite(request, using: [])) == .addressLiteral)
  }

  @Test(arguments: [
    ("http://10.0.0.1/", "addressForbidden"), ("http://0x7f.1/", "addressForbidden"),
    ("http://a..test/", "invalidName"), ("http://a*b.test/", "invalidName"),
  ])
  func `what must not be sent is refused`(_ url: String, _ code: String) throws {
    let outcome = RequestRewriter().rewrite(HTTPRequest(url: try WebURL(url)), using: [Self.address])
    #expect(refusal(outcome)?.description == code)
  }

  @Test func `a name whose every address is forbidden is refused`() throws {
    let request = HTTPRequest(url: try WebURL("http://shop.test/"))
    #expect(refusal(RequestRewriter().rewrite(request, using: [.ipv4(0x0A00_0001)])) == .addressForbidden)
  }

  @Test func `two Host fields are refused, since servers disagree about which counts`() throws {
    var request = HTTPRequest(url: try WebURL("http://shop.test/"), headerFields: [.hostField: "a.test"])
    request.headerFields.append(HTTPField(name: .hostField, value: "b.test"))
    #expect(refusal(RequestRewriter().rewrite(request, using: [Self.address])) == .invalidRequest)
  }

  @Test func `a request without a URL is refused`() {
    let request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/")
    #expect(refusal(RequestRewriter().rewrite(request, using: [Self.address])) == .invalidURL)
  }

  @Test func `a name that nothing is sent to is refused before anything else is asked`() throws {
    let evil = try HostName("evil.test")
    let rewriter = RequestRewriter(policy: AddressPolicy(.any, deniedSuffixes: [evil]), direct: .offUnder([evil]))
    let request = HTTPRequest(url: try WebURL("http://www.evil.test/"))
    #expect(refusal(rewriter.rewrite(request, using: [])) == .addressForbidden)
    #expect(refusal(rewriter.rewrite(request, using: [Self.address], throughProxy: true)) == .addressForbidden)
    for fields: HTTPFields in [
      [.hostField: "evil.test:80"], [.hostField: "a.test", .originalURL: "http://evil.test/"],
      [.hostField: "evil.test.."], [.hostField: "WWW.evil.test...:80"],
      [.hostField: "a.test", .originalURL: "http://evil.test../"],
    ] {
      let literal = HTTPRequest(url: try WebURL("http://8.8.8.8/"), headerFields: fields)
      #expect(refusal(rewriter.rewrite(literal, using: [])) == .addressForbidden)
    }
  }

  @Test func `what a literal request says of its name allows nothing`() throws {
    let policy = AddressPolicy(allowedSuffixes: [try HostName("corp.test")])
    let request = HTTPRequest(url: try WebURL("http://corp.test/"))
    let outcome = RequestRewriter(policy: policy).rewrite(request, using: [.ipv4(0x0A00_0001)])
    let once = try #require(outcome.direct).request
    #expect(refusal(RequestRewriter(policy: policy).rewrite(once, using: [])) == .addressForbidden)
  }

  @Test(arguments: ["", "a b", "a.test:x", "[::1", "a.test:80:80"])
  func `a Host field that is no host is refused`(_ value: String) throws {
    let request = HTTPRequest(url: try WebURL("http://shop.test/"), headerFields: [.hostField: value])
    #expect(refusal(RequestRewriter().rewrite(request, using: [Self.address])) == .invalidRequest)
  }

  @Test func `more fields than a request can have are refused`() throws {
    var request = HTTPRequest(url: try WebURL("http://shop.test/"))
    for _ in 0..<10_000 { request.headerFields.append(HTTPField(name: .accept, value: "a")) }
    #expect(refusal(RequestRewriter().rewrite(request, using: [Self.address])) == nil)
    request.headerFields.append(HTTPField(name: .accept, value: "a"))
    #expect(refusal(RequestRewriter().rewrite(request, using: [Self.address])) == .invalidRequest)
  }

  @Test(arguments: DirectRequest.Form.allCases)
  func `a proxy's password does not reach the origin`(_ form: DirectRequest.Form) throws {
    let direct = try rewrite("http://shop.test/", [.proxyAuthorization: "Basic eDp5"], form: form)
    #expect(direct.request.headerFields[.proxyAuthorization] == nil)
  }
}
