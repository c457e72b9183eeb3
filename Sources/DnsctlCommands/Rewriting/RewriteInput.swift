// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import DirectDNSConfiguration
internal import HTTPTypes

/// One request to rewrite: a URL of the command line, or a line of JSON.
struct RewriteInput: Sendable {
  enum Key: String, ConfigurationKey { case url, method, headers, address }

  /// The URL as it was written.
  let text: String
  let request: HTTPRequest
  /// The address to use instead of looking the host up.
  let address: IPAddress?

  /// An argument is a URL, and a line of standard input is JSON.
  init(_ item: Pipeline.Item, address: IPAddress?) throws(DirectDNSError) {
    switch item {
    case .argument(let text, _): try self.init(url: text, address: address)
    case .line(let text, _): try self.init(line: text, address: address)
    case .unreadable(let reason, _): throw DirectDNSError(.invalidRequest, reason)
    }
  }

  /// A GET of a URL.
  init(url text: String, address: IPAddress?) throws(DirectDNSError) {
    self.text = text
    self.address = address
    request = try Self.request(url: text)
  }

  /// `{"url": …, "method": …, "headers": [[name, value], …], "address": …}`, all but the first optional.
  init(line: String, address: IPAddress?) throws(DirectDNSError) {
    let fields = try JSONLineReader.read(line, Fields.init)
    text = fields.url
    self.address = fields.address ?? address
    var request = try Self.request(url: text)
    if let method = fields.method { request.method = method }
    request.headerFields = fields.headers
    self.request = request
  }

  private struct Fields {
    let url: String
    let method: HTTPRequest.Method?
    let headers: HTTPFields
    let address: IPAddress?

    init(_ node: ConfigurationNode) throws(ConfigurationFault) {
      let object = try node.openObject(Key.self)
      guard let url = object[.url] else { throw object.missing(.url, "Give the request's URL.") }
      self.url = try url.text("Give the request's URL.")
      method = try object[.method].map { node throws(ConfigurationFault) in
        let expectation = "Give an HTTP method such as \"GET\"."
        guard let method = HTTPRequest.Method(try node.text(expectation)) else { throw node.fault(expectation) }
        return method
      }
      headers = try object[.headers].map { node throws(ConfigurationFault) in try HTTPFields(node) } ?? [:]
      address = try object[.address]?.address()
    }
  }

  /// A GET of a URL; a URL of another scheme keeps its parts as written, to be returned unchanged.
  private static func request(url text: String) throws(DirectDNSError) -> HTTPRequest {
    do {
      return HTTPRequest(url: try WebURL(text))
    } catch {
      guard let scheme = WebURL.schemeName(of: text), WebURL.Scheme(rawValue: scheme) == nil,
        let colon = text.firstIndex(of: ":")
      else { throw error }
      return HTTPRequest(
        method: .get, scheme: scheme, authority: nil, path: String(text[text.index(after: colon)...]))
    }
  }
}
