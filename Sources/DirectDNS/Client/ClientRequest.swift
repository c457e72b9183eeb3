// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// A request on its way through the client, with its URL read once.
struct ClientRequest: Sendable {
  var method: HTTPRequest.Method
  /// User info and fragment included; neither is sent.
  var url: WebURL
  var fields: HTTPFields

  init(_ method: HTTPRequest.Method, _ url: WebURL, _ fields: HTTPFields) {
    self.method = method
    self.url = url
    self.fields = fields
  }

  /// - Throws: `invalidURL` for a request that names none.
  init(_ request: HTTPRequest) throws(DirectDNSError) {
    self.init(request.method, try WebURL(request), request.headerFields)
  }

  /// The request that a redirect leads to.
  init(_ redirect: Redirect) {
    self.init(redirect.request.method, redirect.url, redirect.request.headerFields)
  }

  /// The same for those who are not of the client.
  var request: HTTPRequest { HTTPRequest(method: method, url: url, headerFields: fields) }
}
