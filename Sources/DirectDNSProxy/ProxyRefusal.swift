// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// A response of the proxy in place of the origin's (RFC 9110 §15, RFC 9209).
///
/// A browser takes the proxy's page for the site's own, and would run its scripts and keep its cookies. So it has no
/// script, no link and no cookie, and a refusal of CONNECT has no body at all.
struct ProxyRefusal: Error, Equatable, Sendable {
  let status: Int
  /// The type of proxy error, and its parameters (RFC 9209 §2.3).
  let error: String?
  /// What went wrong, and what to do.
  let message: String
  /// Whether the connection has to be closed, for example since it is unknown where the next request begins.
  var closes = false
  /// The realm for which the proxy asks for a password; nil if it does not.
  var challenge: String?
  /// The code of the error by which a policy, or a rule of this proxy, refuses it; nil if it fails for another reason.
  var policyCode: DirectDNSError.Code?

  init(_ status: Int, _ error: String?, _ message: String, closes: Bool = false, challenge: String? = nil) {
    self.status = status
    self.error = error
    self.message = message
    self.closes = closes
    self.challenge = challenge
  }

  /// Why a request cannot be understood.
  init(request fault: MessageFault) {
    switch fault {
    case .malformed(let text): self.init(400, "http_request_error", "The request is refused: \(text).", closes: true)
    case .tooLarge:
      self.init(431, "http_request_error", "The request's header is too large: send less of it.", closes: true)
    case .version:
      self.init(505, "http_request_error", "Only HTTP/1.1 and HTTP/1.0 are supported here.", closes: true)
    case .coding:
      self.init(501, "http_request_error", "The only transfer coding that is known here is chunked.", closes: true)
    }
  }

  /// Why a response cannot be passed on; `sender` says whose it is.
  init(response fault: MessageFault, from sender: String) {
    switch fault {
    case .malformed(let text):
      self.init(502, "http_protocol_error", "\(sender) did not answer with an HTTP response: \(text).")
    case .tooLarge:
      self.init(502, "http_response_header_section_size", "\(sender) answered with a header that is too large.")
    case .version: self.init(502, "http_protocol_error", "\(sender) answered in another version of HTTP.")
    case .coding: self.init(502, "http_response_transfer_coding", "\(sender) answered in an unknown transfer coding.")
    }
  }

  /// Why a lookup failed, or why its addresses may not be connected to.
  init(_ error: DirectDNSError) {
    switch error.code {
    case .invalidName, .invalidURL: self.init(400, "http_request_error", error.message)
    case .nameNotFound: self.init(502, "dns_error; rcode=\"NXDOMAIN\"", error.message)
    case .noAddress: self.init(502, "dns_error; rcode=\"NOERROR\"", error.message)
    case .upstreamFailed: self.init(502, "dns_error", error.message)
    case .timedOut: self.init(504, "dns_timeout", error.message)
    case .addressForbidden: self.init(403, "destination_ip_prohibited", error.message)
    case .refused: self.init(403, "http_request_denied", error.message)
    case .shutDown: self.init(503, "destination_unavailable", "The proxy is ending: try again.")
    default: self.init(502, "destination_unavailable", error.message)
    }
    if [.addressForbidden, .refused].contains(error.code) { policyCode = error.code }
  }

  /// A policy, or a rule of this proxy, allows the host or its port to nobody.
  ///
  /// RFC 9209 has `destination_ip_prohibited` for addresses alone.
  init(denied message: String, by code: DirectDNSError.Code = .refused) {
    self.init(403, "http_request_denied", message)
    policyCode = code
  }

  /// What the status stands for.
  private var title: String {
    switch status {
    case 400: "Bad Request"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 407: "Proxy Authentication Required"
    case 408: "Request Timeout"
    case 421: "Misdirected Request"
    case 431: "Request Header Fields Too Large"
    case 501: "Not Implemented"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    case 505: "HTTP Version Not Supported"
    default: "Refused"
    }
  }

  /// The most bytes of a reason phrase; nc(1) takes a line of less than 1024.
  private static let phraseLimit = 512

  /// The reason phrase: what the status stands for, and the message, in ASCII.
  ///
  /// Of a tunnel's refusal most programs show nothing else, and many of a page. What bytes beyond ASCII stand for they
  /// do not agree on (RFC 9112 §4).
  var reason: String {
    let words = DirectDNSError.clause(of: message).unicodeScalars.map { scalar in
      switch scalar {
      case " "..."~": String(scalar)
      // Of what is quoted or listed in part.
      case "…": "..."
      // Of an RFC, as in the reason for which loopback is forbidden.
      case "§": "section "
      default: scalar.escaped(asASCII: true)
      }
    }
    let text = "\(title): \(words.joined())"
    return text.utf8.count > Self.phraseLimit ? "\(text.prefix(Self.phraseLimit - 3))..." : text
  }

  /// The methods that are allowed for a URL; the proxy's own pages allow two of them.
  static let allowedMethods = "GET, HEAD, POST, PUT, DELETE, PATCH, OPTIONS, CONNECT"

  /// The format of the body, by the request's `Accept`.
  enum Form { case none, text, json, html }

  /// The response as it is sent.
  ///
  /// - Parameters:
  ///   - form: what kind of body it has.
  ///   - isToHEAD: whether the body is left out.
  ///   - closes: whether the connection ends with it.
  ///   - date: the value of `Date`; nil leaves the field out.
  /// - Returns: head and body.
  func response(
    as form: Form, isToHEAD: Bool = false, closes: Bool, date: String? = nil
  ) -> (head: String, body: String) {
    var lines = "HTTP/1.1 \(status) \(reason)\r\n"
    if let date { lines += "Date: \(date)\r\n" }
    lines += "Cache-Control: no-store\r\n"
    if let error { lines += "Proxy-Status: directdns; error=\(error)\r\n" }
    if let challenge { lines += "Proxy-Authenticate: Basic realm=\"\(challenge)\", charset=\"UTF-8\"\r\n" }
    if status == 405 { lines += "Allow: \(error == nil ? "GET, HEAD" : Self.allowedMethods)\r\n" }
    let body: String
    switch form {
    case .none: body = ""
    case .text:
      lines += "Content-Type: text/plain; charset=utf-8\r\n"
      body = message + "\n"
    case .json:
      lines += "Content-Type: application/json\r\n"
      let code = error.map { String($0.prefix { $0 != ";" }).jsonString } ?? "null"
      body = "{\"status\":\(status),\"error\":\(code),\"message\":\(message.jsonString)}\n"
    case .html:
      lines += "Content-Type: text/html; charset=utf-8\r\nContent-Security-Policy: default-src 'none'\r\n"
      let heading = "\(status) \(title)"
      body =
        "<!doctype html>\n<title>\(heading)</title>\n<h1>\(heading)</h1>\n<p>\(Self.escaped(message))\n<p>DirectDNS proxy\n"
    }
    if form != .none { lines += "X-Content-Type-Options: nosniff\r\n" }
    lines += "Content-Length: \(body.utf8.count)\r\n"
    if closes { lines += "Connection: close\r\n" }
    return (lines + "\r\n", isToHEAD ? "" : body)
  }

  private static func escaped(_ text: String) -> String {
    let escapes: [Character: String] = ["<": "&lt;", ">": "&gt;", "&": "&amp;", "\"": "&quot;"]
    return text.map { escapes[$0] ?? String($0) }.joined()
  }
}

extension ProxyRefusal.Form {
  /// The format that a request accepts: text if it does not say, none for CONNECT.
  init(_ head: MessageHead, isConnect: Bool) {
    guard !isConnect else {
      self = .none
      return
    }
    var form = ProxyRefusal.Form.text
    var isFound = false
    head.forEachToken(of: .accept) { token in
      guard !isFound else { return }
      let type = token.prefix { head.bytes[$0] != UInt8(ascii: ";") && head.bytes[$0] != 0x20 }
      let bytes = head.bytes.span.extracting(type)
      if bytes.isEqualIgnoringCase("text/html") || bytes.isEqualIgnoringCase("application/xhtml+xml") {
        (form, isFound) = (.html, true)
      } else if bytes.isEqualIgnoringCase("application/json") || bytes.isEqualIgnoringCase("application/problem+json") {
        (form, isFound) = (.json, true)
      } else if bytes.isEqualIgnoringCase("text/plain") {
        isFound = true
      }
    }
    self = form
  }
}
