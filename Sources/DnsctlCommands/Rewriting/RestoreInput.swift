// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import DirectDNSConfiguration
internal import HTTPTypes

/// One response to restore, from a line of JSON.
struct RestoreInput: Sendable {
  enum Key: String, ConfigurationKey { case originalUrl, address, status, headers }

  let restorer: ResponseRestorer
  let response: HTTPResponse
  /// What was wrong with the fields that were left out, since no message may have them.
  let rejectedFields: [String]

  init(_ item: Pipeline.Item) throws(DirectDNSError) {
    if case .unreadable(let reason, _) = item { throw DirectDNSError(.invalidRequest, reason) }
    try self.init(line: item.text)
  }

  /// `{"originalUrl": …, "address": …, "status": …, "headers": [[name, value], …]}`.
  ///
  /// If the answer had several addresses, `address` is a list.
  init(line: String) throws(DirectDNSError) {
    let fields = try JSONLineReader.read(line, Fields.init)
    restorer = ResponseRestorer(originalURL: try WebURL(fields.originalUrl), addresses: fields.addresses)
    response = HTTPResponse(status: .init(code: fields.status), headerFields: fields.headers)
    rejectedFields = fields.rejected
  }

  private struct Fields {
    let originalUrl: String
    let addresses: [IPAddress]
    let status: Int
    let headers: HTTPFields
    let rejected: [String]

    init(_ node: ConfigurationNode) throws(ConfigurationFault) {
      let object = try node.openObject(Key.self)
      let urlExpectation = "Give the URL with the name, as originalUrl had it."
      guard let url = object[.originalUrl] else { throw object.missing(.originalUrl, urlExpectation) }
      originalUrl = try url.text(urlExpectation)
      guard let address = object[.address] else {
        throw object.missing(.address, "Give the address that the request went to, or a list of them.")
      }
      if case .list = address.value {
        addresses = try address.list("Give addresses.").map { node throws(ConfigurationFault) in try node.address() }
      } else {
        addresses = [try address.address()]
      }
      let statusExpectation = "Give the response's status, 100 to 999."
      status = Int(
        try object[.status]?.number(statusExpectation) { (100...999).contains($0) && $0.rounded() == $0 } ?? 200)
      var rejected: [String] = []
      headers =
        try object[.headers].map { node throws(ConfigurationFault) in
          try HTTPFields(node) { rejected.append($0) }
        } ?? [:]
      self.rejected = rejected
    }
  }
}
