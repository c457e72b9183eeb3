// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

@Suite("Redirects")
struct RedirectTests {
  private func hop(
    _ status: Int, _ locations: String..., from url: String = "https://a.example/start",
    method: HTTPRequest.Method = .get, fields: HTTPFields = [:], body: Redirect.Body = .none, hops: Int = 0,
    by configuration: RedirectConfiguration = RedirectConfiguration()
  ) throws -> Redirect? {
    var response = HTTPResponse(status: .init(code: status))
    for location in locations { response.headerFields.append(HTTPField(name: .location, value: location)) }
    return try Redirect.next(
      after: response, to: HTTPRequest(method: method, url: WebURL(url), headerFields: fields), body: body, hops: hops,
      configuration: configuration)
  }

  private func error(_ hop: () throws -> Redirect?) throws -> DirectDNSError {
    try #require(#expect(throws: DirectDNSError.self) { try hop() })
  }

  private func hop(octets: [UInt8]) throws -> Redirect? {
    var response = HTTPResponse(status: .found)
    response.headerFields.append(HTTPField(name: .location, value: octets))
    return try Redirect.next(after: response, to: HTTPRequest(url: WebURL("https://a.example/start")), hops: 0)
  }

  @Test func `octets of a Location that are not UTF-8 are asked for as they came`() throws {
    let latin1 = Array("/caf".utf8) + [0xE9] + Array("?q=é#x".utf8)
    #expect(try hop(octets: latin1)?.url.href == "https://a.example/caf%E9?q=%C3%A9#x")
    #expect(try hop(octets: Array("/café".utf8))?.url.href == "https://a.example/caf%C3%A9")
    #expect(try hop(octets: Array("/caf\u{FFFD}".utf8))?.url.href == "https://a.example/caf%EF%BF%BD")
    let host = Array("https://caf".utf8) + [0xE9] + Array(".example/".utf8)
    #expect(try error { try hop(octets: host) }.code == .redirectRefused)
  }

  // MARK: Method and body

  @Test(arguments: [
    (301, "GET", "GET", true), (301, "HEAD", "HEAD", true), (301, "POST", "GET", false), (301, "PUT", "PUT", true),
    (302, "POST", "GET", false), (302, "DELETE", "DELETE", true), (302, "PROPFIND", "PROPFIND", true),
    (303, "GET", "GET", false), (303, "HEAD", "HEAD", false), (303, "POST", "GET", false), (303, "PUT", "GET", false),
    (303, "QUERY", "GET", false), (307, "GET", "GET", true), (307, "POST", "POST", true), (307, "PATCH", "PATCH", true),
    (308, "POST", "POST", true), (308, "BREW", "BREW", true),
    // Methods are case-sensitive (RFC 9110 §9.1).
    (302, "post", "post", true),
  ])
  func `the status decides over method and body`(_ status: Int, _ method: String, _ next: String, _ keepsBody: Bool)
    throws
  {
    let method = try #require(HTTPRequest.Method(method))
    let redirect = try #require(try hop(status, "/next", method: method, body: .replayable))
    #expect(redirect.request.method.rawValue == next)
    #expect(redirect.keepsBody == keepsBody)
    #expect(try hop(status, "/next", method: method)?.keepsBody == false)
  }

  @Test(arguments: [(301, "POST", true), (302, "POST", true), (303, "GET", false), (307, "POST", true)])
  func `a POST can be kept where the old statuses turn it into GET`(_ status: Int, _ next: String, _ keepsBody: Bool)
    throws
  {
    let redirect = try hop(
      status, "/next", method: .post, body: .replayable, by: RedirectConfiguration(postRedirect: .keep))
    #expect(redirect?.request.method.rawValue == next)
    #expect(redirect?.keepsBody == keepsBody)
  }

  @Test func `a body that is needed again and gone is an error, and one that is dropped is none`() throws {
    let error = try error { try hop(307, "/next", method: .put, body: .oneShot) }
    #expect(error.code == .bodyNotReplayable)
    #expect(error.message.hasSuffix("only once: use a body that can be replayed."))
    #expect(error.message.contains("https://a.example redirects with 307"))
    #expect(try hop(303, "/next", method: .put, body: .oneShot)?.keepsBody == false)
  }

  // MARK: Whether to follow

  @Test(arguments: [200, 201, 204, 300, 304, 305, 306, 309, 400, 503])
  func `other statuses are the caller's`(_ status: Int) throws {
    #expect(try hop(status, "/next") == nil)
  }

  @Test func `without a Location, or with a blank one, the response is the caller's`() throws {
    #expect(try hop(302) == nil)
    #expect(try hop(302, "") == nil)
    for blank in ["  \t", "\u{b}", "\u{c}\u{1f}", "\u{1}"] { #expect(try hop(302, blank) == nil) }
    // Even where the next hop would be one too many.
    #expect(try hop(302, hops: 20) == nil)
  }

  @Test func `a Location that is only a fragment leads to the same URL, with that fragment`() throws {
    let redirect = try #require(try hop(307, "#top", from: "https://a.example/start?x#old", method: .post))
    #expect(redirect.url.href == "https://a.example/start?x#top" && redirect.request.method == .post)
  }

  @Test func `one Location sent twice is one, and two different ones are an error`() throws {
    #expect(try hop(302, "/next", "/next", "")?.url.path == "/next")
    let error = try error { try hop(302, "/next", "https://evil.example/") }
    #expect(error.code == .redirectRefused)
    #expect(error.message.contains("2 different Location fields"))
  }

  @Test func `20 redirects are followed and the 21st is an error`() throws {
    var request = try HTTPRequest(url: WebURL("https://a.example/0"))
    for hops in 0..<20 {
      let response = HTTPResponse(status: .found, headerFields: [.location: "/\(hops + 1)"])
      request = try #require(try Redirect.next(after: response, to: request, hops: hops)).request
    }
    #expect(request.path == "/20")
    let last = try error { try hop(302, "/21", hops: 20) }
    #expect(last.code == .tooManyRedirects)
    #expect(last.message.hasSuffix("limit is 20: look for a loop, or raise the limit."))
    #expect(try error { try hop(302, "/", by: RedirectConfiguration(limit: 0)) }.code == .tooManyRedirects)
  }

  @Test(arguments: [
    "ftp://b.example/", "javascript:alert(1)", "file:///etc/passwd", "data:,x", "ws://b.example/", "https://",
    "https://b.example:99999/", "https://1.2.3.256/", "https://[::1%25eth0]/",
  ])
  func `what is no URL of http or https is an error`(_ location: String) throws {
    #expect(try error { try hop(302, location) }.code == .redirectRefused)
  }

  @Test func `a WebSocket's handshake may be redirected to another`() throws {
    #expect(try hop(302, "/next", from: "wss://a.example/chat")?.url.href == "wss://a.example/next")
    #expect(try hop(307, "wss://b.example/", from: "ws://a.example/chat")?.url.href == "wss://b.example/")
    let error = try error { try hop(302, "https://a.example/login", from: "wss://a.example/chat") }
    #expect(error.code == .redirectRefused)
    #expect(error.message.contains("only ws or wss"))
  }

  @Test func `a downgrade is followed without credentials, or refused when asked to`() throws {
    let fields: HTTPFields = [.authorization: "Basic dTpw"]
    let followed = try #require(try hop(302, "http://a.example/", fields: fields))
    #expect(followed.crossesOrigin)
    #expect(followed.request.headerFields.isEmpty)
    let strict = RedirectConfiguration(downgrade: .refused)
    #expect(try error { try hop(302, "http://a.example/", by: strict) }.code == .redirectRefused)
    #expect(
      try error { try hop(302, "ws://a.example/", from: "wss://a.example/", by: strict) }.code == .redirectRefused)
    #expect(try hop(302, "https://a.example/", from: "http://a.example/", by: strict) != nil)
    #expect(try hop(302, "http://b.example/", from: "http://a.example/", by: strict) != nil)
  }

  @Test(arguments: [
    ["https://u:s3cret@a.example/s3cret?s3cret", "ftp://u:s3cret@b.example/s3cret"],
    ["https://u:s3cret@a.example/s3cret?s3cret", "https://u:s3cret@b.example:99999/s3cret?s3cret"],
    ["https://u:s3cret@a.example/s3cret?s3cret", "http://u:s3cret@b.example/s3cret?s3cret"],
    ["https://u:s3cret@a.example/s3cret?s3cret", "wss://u:s3cret@b.example/s3cret?s3cret"],
    ["https://u:s3cret@a.example/s3cret?s3cret", "/s3cret", "/other"],
  ])
  func `no error tells user info, path or query`(_ urls: [String]) throws {
    var response = HTTPResponse(status: .temporaryRedirect)
    for location in urls.dropFirst() { response.headerFields.append(HTTPField(name: .location, value: location)) }
    let request = try HTTPRequest(url: WebURL(urls[0]))
    for hops in [0, 20] {
      let error = try error {
        try Redirect.next(
          after: response, to: request, body: .oneShot, hops: hops,
          configuration: RedirectConfiguration(downgrade: .refused))
      }
      #expect(error.message.contains("https://a.example"))
      #expect(!error.message.contains("s3cret"))
    }
  }

  // MARK: Where it leads

  @Test(arguments: [
    ("/next", "https://a.example/next"), ("next", "https://a.example/dir/next"), ("../x", "https://a.example/x"),
    ("?q", "https://a.example/dir/start?q"), ("//b.example/x", "https://b.example/x"),
    ("https:next", "https://a.example/dir/next"), ("\\\\b.example\\x", "https://b.example/x"),
    ("https://A.EXAMPLE:443/a b", "https://a.example/a%20b"), ("https://a.example./", "https://a.example./"),
    ("HTTP://2130706433/", "http://127.0.0.1/"), ("/é", "https://a.example/%C3%A9"),
  ])
  func `a Location is read as a browser reads it`(_ location: String, _ url: String) throws {
    let redirect = try #require(try hop(302, location, from: "https://a.example/dir/start?old"))
    #expect(redirect.url.href == url)
    #expect(try WebURL(redirect.request) == redirect.url)
  }

  @Test(arguments: [
    ("/next", "https://b.example/", "part"), ("/next#own", "https://b.example/#own", "own"), ("/#", "#", ""),
  ])
  func `a fragment is inherited unless the Location has one`(_ near: String, _ far: String, _ fragment: String) throws {
    for location in [near, far] {
      #expect(try hop(302, location, from: "https://a.example/x#part")?.url.fragment == fragment)
    }
  }

  @Test(arguments: [
    ("/next", "https://u:p@a.example/next"), ("https://a.example/next", "https://u:p@a.example/next"),
    ("https://v:q@a.example/next", "https://v:q@a.example/next"), ("https://b.example/", "https://b.example/"),
    ("https://v:q@b.example/", "https://b.example/"), ("https://a.example:8443/", "https://a.example:8443/"),
    ("http://u:p@a.example/", "http://a.example/"),
  ])
  func `a URL's user info stays within its origin`(_ location: String, _ url: String) throws {
    #expect(try hop(302, location, from: "https://u:p@a.example/start")?.url.href == url)
  }

  @Test func `everything else about the request stays`() throws {
    var request = try HTTPRequest(method: .connect, url: WebURL("wss://a.example/chat"))
    request.extendedConnectProtocol = "websocket"
    let response = HTTPResponse(status: .permanentRedirect, headerFields: [.location: "/next"])
    #expect(try Redirect.next(after: response, to: request, hops: 0)?.request.extendedConnectProtocol == "websocket")
  }

  // MARK: Chains

  @Test func `what was dropped stays dropped on the way back`() throws {
    let fields: HTTPFields = [.authorization: "Basic dTpw", .cookie: "own=1", .accept: "text/plain"]
    let away = try #require(try hop(302, "https://b.example/", from: "https://u:p@a.example/", fields: fields))
    let response = HTTPResponse(status: .found, headerFields: [.location: "https://a.example/"])
    let back = try #require(try Redirect.next(after: response, to: away.request, hops: 1))
    #expect(back.url.href == "https://a.example/")
    #expect(back.request.headerFields == [.accept: "text/plain"])
  }

  @Test func `a body that was dropped stays dropped`() throws {
    let first = try #require(
      try hop(302, "/next", method: .post, fields: [.contentType: "text/plain"], body: .replayable))
    let response = HTTPResponse(status: .permanentRedirect, headerFields: [.location: "/last"])
    let second = try #require(try Redirect.next(after: response, to: first.request, body: .none, hops: 1))
    #expect(second.request.method == .get)
    #expect(!second.keepsBody)
    #expect(second.request.headerFields.isEmpty)
  }
}

@Suite("Header fields of a redirect")
struct RedirectFieldsTests {
  private func next(
    _ lines: [String], from source: String = "https://a.example/start", to target: String, dropsBody: Bool = false,
    secretFields: Set<HTTPField.Name> = []
  ) throws -> [String] {
    var fields = HTTPFields()
    for line in lines {
      let parts = line.split(separator: ": ", maxSplits: 1, omittingEmptySubsequences: false)
      fields.append(HTTPField(name: try #require(HTTPField.Name(String(parts[0]))), value: String(parts[1])))
    }
    return try RedirectFields(
      source: WebURL(source), target: WebURL(target), dropsBody: dropsBody, secretFields: secretFields
    ).next(fields).map { "\($0.name.rawName): \($0.value)" }
  }

  static let secrets = [
    "Authorization: Basic dTpw", "cookie: own=1", "Cookie2: $Version=1", "WWW-Authenticate: x",
    "Origin: https://a.example",
    "HOST: custom.example", "X-Api-Key: key",
  ]

  @Test(arguments: [
    "https://b.example/", "https://www.a.example/", "https://a.example./", "https://a.example:8443/",
    "http://a.example/",
    "http://a.example:443/", "https://192.0.2.1/",
  ])
  func `another origin gets no credentials, no own Host and no Origin`(_ target: String) throws {
    let key = try #require(HTTPField.Name("x-api-key"))
    let kept = try next(Self.secrets + ["Accept: */*"], to: target, secretFields: [key])
    #expect(kept == ["Accept: */*"])
  }

  @Test(arguments: ["https://a.example/next", "https://A.EXAMPLE:443/"])
  func `the same origin gets them all`(_ target: String) throws {
    let key = try #require(HTTPField.Name("X-Api-Key"))
    #expect(try next(Self.secrets, to: target, secretFields: [key]) == Self.secrets)
  }

  @Test(arguments: ["https://a.example/next", "https://b.example/"])
  func `no origin gets what is the proxy's or an earlier hop's`(_ target: String) throws {
    let lines = ["proxy-authorization: Basic cHA6cHA=", "originalUrl: https://a.example/start", "ORIGINALURL: x"]
    #expect(try next(lines, to: target) == [])
  }

  @Test func `what is kept keeps its order, its case and its doubles`() throws {
    let lines = [
      "x-b: 2", "X-A: 1", "USER-AGENT: t/1", "X-B: 3", "Range: bytes=0-9", "If-None-Match: \"e\"", "X-Empty: ",
    ]
    #expect(try next(lines, to: "https://b.example/", dropsBody: true) == lines)
  }

  @Test func `a dropped body takes along what describes it`() throws {
    let about = [
      "Content-Type: text/plain", "content-length: 7", "Content-Encoding: gzip", "Content-Language: en",
      "Content-Location: /x", "Content-Disposition: inline", "Content-Digest: sha-256=:x:",
      "Transfer-Encoding: chunked",
      "Expect: 100-continue",
    ]
    #expect(try next(about + ["Accept: */*"], to: "https://a.example/", dropsBody: true) == ["Accept: */*"])
    #expect(try next(about, to: "https://b.example/") == about)
  }

  @Test(arguments: [
    // Within the origin: whole, but for user info and fragment.
    ("https://a.example/page?q=1", "https://a.example/", "https://a.example/page?q=1"),
    ("https://u:p@a.example/page#part", "https://a.example/", "https://a.example/page"),
    ("https://other.example/page", "https://a.example/", "https://other.example/page"),
    ("page", "https://a.example/", "page"), ("", "https://a.example/", ""),
    // To another: the origin alone.
    ("https://u:p@a.example:8443/page?q=1#part", "https://b.example/", "https://a.example:8443/"),
    ("https://a.example/", "https://b.example/", "https://a.example/"),
    ("page?q", "https://b.example/", "https://a.example/"),
    ("", "https://b.example/", ""),
    // From https to http, and what cannot be read: nothing.
    ("https://a.example/page", "http://a.example/", nil), ("http://a.example/page", "http://b.example/", nil),
    ("about:blank", "https://b.example/", nil), ("about:blank", "https://a.example/", nil),
  ])
  func `a Referer tells no more than the next origin may know`(_ referer: String, _ target: String, _ kept: String?)
    throws
  {
    #expect(try next(["Referer: \(referer)"], to: target) == (kept.map { ["Referer: \($0)"] } ?? []))
  }

  @Test func `a Referer of a private page is not told to a public one`() throws {
    #expect(try next(["Referer: https://r.example/"], from: "http://a.example/", to: "http://a.example/x") == [])
    #expect(
      try next(["Referer: http://r.example/x"], from: "http://a.example/", to: "http://b.example/") == [
        "Referer: http://r.example/"
      ])
  }

  @Test func `a Referer that the caller marked secret goes to no other origin`() throws {
    #expect(try next(["Referer: https://a.example/"], to: "https://b.example/", secretFields: [.referer]) == [])
  }
}
