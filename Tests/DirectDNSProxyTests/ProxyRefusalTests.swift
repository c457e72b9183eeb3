// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

@testable import DirectDNSProxy

@Suite("Refusals")
struct ProxyRefusalTests {
  private func text(
    _ form: ProxyRefusal.Form, isToHEAD: Bool = false, closes: Bool = false,
    _ refusal: ProxyRefusal = ProxyRefusal(502, "dns_error; rcode=\"NXDOMAIN\"", "<b>\"x\"</b>\u{1b} & more")
  ) -> String {
    let response = refusal.response(as: form, isToHEAD: isToHEAD, closes: closes)
    return response.head + response.body
  }

  @Test func `a tunnel's refusal has no body at all`() {
    #expect(
      text(.none)
        == "HTTP/1.1 502 Bad Gateway: <b>\"x\"</b>\\u{1B} & more\r\nCache-Control: no-store\r\nProxy-Status: directdns; error=dns_error; rcode=\"NXDOMAIN\"\r\nContent-Length: 0\r\n\r\n"
    )
  }

  @Test(arguments: [
    (403, "The address 10.0.0.1 is forbidden.", "Forbidden: the address 10.0.0.1 is forbidden"),
    (407, "This proxy wants a password.", "Proxy Authentication Required: this proxy wants a password"),
    (502, "b\u{fc}cher.test is gone.\r\nSet-Cookie: a", "Bad Gateway: b\\u{00FC}cher.test is gone.\\r\\nSet-Cookie: a"),
    (403, "It is outside of 10.0.0.0/8, ….", "Forbidden: It is outside of 10.0.0.0/8, ..."),
    (403, "It is Loopback, RFC 1122 §3.2.1.3.", "Forbidden: It is Loopback, RFC 1122 section 3.2.1.3"),
    (400, "~\u{7f} is no name.", "Bad Request: ~\\u{7F} is no name"),
  ])
  func `the reason phrase is the message, in one line of ASCII`(status: Int, message: String, reason: String) {
    #expect(ProxyRefusal(status, nil, message).reason == reason)
  }

  @Test func `a reason phrase that would be long is cut`() {
    let (start, text) = ("Forbidden: ", String(repeating: "a", count: 501))
    #expect(ProxyRefusal(403, nil, text).reason == start + text)
    #expect(ProxyRefusal(403, nil, text + "a").reason == "\(start)\(text.dropLast(3))...")
  }

  @Test func `a page for people is inert`() throws {
    let whole = text(.html)
    let page = whole[try #require(whole.firstRange(of: "\r\n\r\n")).upperBound...]
    #expect(page.contains("<p>&lt;b&gt;&quot;x&quot;&lt;/b&gt;"))
    #expect(page.contains("&amp; more"))
    #expect(whole.contains("Content-Security-Policy: default-src 'none'\r\n"))
    #expect(!whole.contains("Set-Cookie"))
    for sign in ["<script", "<a ", "<link", "<b>"] { #expect(!page.contains(sign)) }
  }

  @Test func `JSON names the error without its parameters`() {
    #expect(
      text(.json).hasSuffix(
        "{\"status\":502,\"error\":\"dns_error\",\"message\":\"<b>\\\"x\\\"</b>\\u001b & more\"}\n"))
  }

  @Test func `the length is the body's, and HEAD gets none of it`() throws {
    let whole = text(.text)
    let body = try #require(whole.split(separator: "\r\n\r\n", maxSplits: 1).last)
    #expect(whole.contains("Content-Length: \(body.utf8.count)\r\n"))
    #expect(text(.text, isToHEAD: true).hasSuffix("\r\n\r\n"))
    #expect(text(.text, isToHEAD: true).contains("Content-Length: \(body.utf8.count)\r\n"))
  }

  @Test(arguments: [(nil, "Allow: GET, HEAD\r\n"), ("http_request_denied", "Allow: GET, HEAD, POST, PUT,")])
  func `a method that is refused comes with those that are not`(_ error: String?, _ line: String) {
    #expect(ProxyRefusal(405, error, "No.").response(as: .text, closes: true).head.contains(line))
  }

  @Test func `a challenge names what is asked for`() {
    let text = text(.text, closes: true, ProxyRefusal(407, nil, "who", challenge: "here"))
    #expect(text.contains("Proxy-Authenticate: Basic realm=\"here\", charset=\"UTF-8\"\r\n"))
    #expect(text.contains("Connection: close\r\n"))
    #expect(!text.contains("Proxy-Status"))
  }

  @Test(arguments: [
    (DirectDNSError.Code.nameNotFound, 502, "dns_error; rcode=\"NXDOMAIN\""),
    (.noAddress, 502, "dns_error; rcode=\"NOERROR\""),
    (.timedOut, 504, "dns_timeout"), (.upstreamFailed, 502, "dns_error"),
    (.addressForbidden, 403, "destination_ip_prohibited"),
    (.refused, 403, "http_request_denied"), (.invalidName, 400, "http_request_error"),
    (.shutDown, 503, "destination_unavailable"),
    (.storeFailed, 502, "destination_unavailable"),
  ])
  func `an error of the library has a status and a type of RFC 9209`(
    code: DirectDNSError.Code, status: Int, type: String
  ) {
    let refusal = ProxyRefusal(DirectDNSError(code, "why"))
    #expect(refusal.status == status)
    #expect(refusal.error == type)
  }

  @Test(arguments: [
    ("", ProxyRefusal.Form.text), ("Accept: text/html,*/*", .html), ("Accept: application/json", .json),
    ("Accept: application/json;q=0.5, text/html", .json), ("Accept: */*", .text),
    ("Accept: text/plain, text/html", .text),
    ("Accept: application/xhtml+xml", .html),
  ])
  func `the form goes by what the client accepts first`(line: String, form: ProxyRefusal.Form) throws {
    let head = try HeadParser.parse(
      Array("GET / HTTP/1.1\r\n\(line.isEmpty ? "" : line + "\r\n")\r\n".utf8), .request)
    #expect(ProxyRefusal.Form(head, isConnect: false) == form)
    #expect(ProxyRefusal.Form(head, isConnect: true) == .none)
  }
}
