// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import HTTPTypes

/// The verbs of rewriting requests and restoring responses.
let rewritingVerbs: [String: Verb] = [
  "url.rewrite": { input in
    guard let address = IPAddress(try text(input, "ip")) else { throw MissingField(name: "ip") }
    let request = HTTPRequest(url: try WebURL(text(input, "url")))
    switch RequestRewriter(form: .literal, policy: .any).rewrite(request, using: [address]) {
    case .direct(let direct):
      return [
        "ok": true, "url": direct.url.href, "host_header": direct.host, "original_url": direct.originalURLField,
        "sni": direct.serverName?.text as Any,
      ]
    case .bypassed: return ["unchanged": true]
    case .refused(let error): throw error
    }
  },
  "url.restore": { input in
    let original = try WebURL(text(input, "original_url"))
    guard case .address(let address) = try WebURL(text(input, "ip_url")).host else {
      throw MissingField(name: "ip_url")
    }
    var response = HTTPResponse(status: .init(code: input["status"] as? Int ?? 200))
    guard let headers = input["headers"] as? [[String]] else { throw MissingField(name: "headers") }
    for field in headers where field.count == 2 {
      guard let name = HTTPField.Name(field[0]) else { throw MissingField(name: "headers") }
      response.headerFields.append(HTTPField(name: name, value: field[1]))
    }
    let fields = ResponseRestorer(originalURL: original, addresses: [address]).restore(response).headerFields
    var result: JSONObject = ["location": fields[.location] as Any, "cookie_rejected": false]
    for field in fields[values: .setCookie] {
      switch CookieJar().store(setCookie: field, for: original) {
      case .success(let cookie): result["cookie_domain"] = cookie.isHostOnly ? nil : cookie.domain.description
      case .failure: result["cookie_rejected"] = true
      }
    }
    return result
  },
]
