// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

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
