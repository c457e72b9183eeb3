// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation
import HTTPTypes

/// The verbs of redirects: what a client that follows them would send next.
let redirectVerbs: [String: Verb] = [
  "redirect.next": { input in
    guard let asked = input["request"] as? JSONObject, let response = input["response"] as? JSONObject,
      let status = response["status"] as? Int
    else { throw MissingField(name: "request or response") }
    let pinned = (asked["pinned_ip"] as? String).flatMap(IPAddress.init)
    let history = try RedirectHistory(asked, response, status: status)
    let (request, body) = try history.request()
    let head = RedirectCase.response(status, try RedirectCase.locations(response))
    let restored = try ResponseRestorer(originalURL: WebURL(request), addresses: pinned.map { [$0] } ?? []).restore(
      head)
    let redirect: Redirect
    do {
      guard let next = try Redirect.next(after: restored, to: request, body: body, hops: history.hops) else {
        return ["follow": false]
      }
      redirect = next
    } catch {
      guard Refusal.isOne(error) else { throw error }
      return ["follow": false, "error": "\(error)"]
    }
    return RedirectCase.answer(redirect, pinned: pinned).merging(history.answer(redirect)) { $1 }
  },
  "redirect.chain": { input in
    if let hops = input["hops"] as? Int { return ["ok": try RedirectCase.follows(hops, input)] }
    return ["requests": try RedirectCase.requests(input)]
  },
]

/// The suites' words for requests and responses.
enum RedirectCase {
  /// The `Location` of a response: none, one, or several fields.
  static func locations(_ response: JSONObject) throws -> [String] {
    guard let location = response["location"], !(location is NSNull) else { return [] }
    if let text = location as? String { return [text] }
    guard let texts = location as? [String] else { throw MissingField(name: "location") }
    return texts
  }

  static func response(_ status: Int, _ locations: [String]) -> HTTPResponse {
    var response = HTTPResponse(status: .init(code: status))
    for location in locations { response.headerFields.append(HTTPField(name: .location, value: location)) }
    return response
  }

  static func fields(_ value: Any?) throws -> HTTPFields {
    var fields = HTTPFields()
    guard let lines = value as? [[String]] else { throw MissingField(name: "headers") }
    for line in lines where line.count == 2 {
      guard let name = HTTPField.Name(line[0]) else { throw MissingField(name: "headers, with a name \(line[0])") }
      fields.append(HTTPField(name: name, value: line[1]))
    }
    return fields
  }

  /// The next request in the literal form, judged as a client would: documentation addresses stand for public ones.
  static func answer(_ redirect: Redirect, pinned: IPAddress?) -> JSONObject {
    let policy = AddressPolicy(
      .publicOnly, allowedNetworks: ["203.0.113.0/24", "2001:db8::/32"].compactMap(IPNetwork.init))
    var answer: JSONObject = [
      "follow": true, "method": redirect.request.method.rawValue, "url": redirect.url.href,
      "body_kept": redirect.keepsBody,
    ]
    // A name is not looked up: any allowed address stands for it, and loopback for those that mean this machine.
    var addresses = [pinned ?? IPAddress("203.0.113.1")].compactMap(\.self)
    if let name = try? HostName(redirect.url.host), LocalZones().route(for: name) == .loopback {
      addresses = [.ipv4(0x7F00_0001)]
    }
    switch RequestRewriter(form: .literal, policy: policy).rewrite(redirect.request, using: addresses) {
    case .direct(let direct):
      answer["headers"] = headers(direct.request)
      answer["host_header"] = direct.host
      answer["sni"] = direct.serverName?.text
    case .bypassed(let request, _):
      answer["headers"] = headers(request)
      answer["host_header"] = redirect.url.hostAndPort
    case .refused(let error): answer = ["follow": false, "error": "\(error)"]
    }
    return answer
  }

  private static func headers(_ request: HTTPRequest) -> [String: String] {
    Dictionary(request.headerFields.map { ($0.name.rawName, $0.value) }) { "\($0), \($1)" }
  }

  /// Whether so many redirects in a row are followed.
  static func follows(_ hops: Int, _ input: JSONObject) throws -> Bool {
    var request = HTTPRequest(url: try WebURL("http://a.example/0"))
    let response = response(input["status"] as? Int ?? 0, ["/next"])
    let rules = RedirectConfiguration(limit: input["max_redirects"] as? Int ?? 20)
    for followed in 0..<hops {
      let next: Redirect?
      do {
        next = try Redirect.next(after: response, to: request, hops: followed, configuration: rules)
      } catch {
        guard error.code == .tooManyRedirects else { throw error }
        return false
      }
      guard let next else { return false }
      request = next.request
    }
    return true
  }

  /// The requests to a server that answers `?code=C&next=D,E` with C and a `Location` of `?code=D&next=E`.
  static func requests(_ input: JSONObject) throws -> [[String]] {
    guard let method = HTTPRequest.Method(try text(input, "method")) else { throw MissingField(name: "method") }
    var next: HTTPRequest? = HTTPRequest(method: method, url: try WebURL("http://a.example" + text(input, "path")))
    var body = Redirect.Body.replayable
    var requests: [[String]] = []
    while let request = next {
      requests.append([request.method.rawValue, request.path ?? ""])
      let redirect = try Redirect.next(
        after: scripted(try WebURL(request).query ?? ""), to: request, body: body, hops: requests.count - 1)
      next = redirect?.request
      body = redirect?.keepsBody == true ? .replayable : .none
    }
    return requests
  }

  private static func scripted(_ query: String) -> HTTPResponse {
    var items: [Substring: Substring] = [:]
    for item in query.split(separator: "&") {
      let parts = item.split(separator: "=", maxSplits: 1)
      if parts.count == 2 { items[parts[0]] = parts[1] }
    }
    guard let code = items["code"].flatMap({ Int($0) }) else { return response(200, []) }
    let codes = items["next"]?.split(separator: ",") ?? []
    guard let first = codes.first else { return response(code, ["/"]) }
    let rest = codes.dropFirst().joined(separator: ",")
    return response(code, ["/?code=\(first)" + (rest.isEmpty ? "" : "&next=\(rest)")])
  }
}
