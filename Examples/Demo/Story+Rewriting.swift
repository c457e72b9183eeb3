// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSFoundation
import DirectDNSTesting
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The second part: a request goes to the address, and its response comes back to the name.
extension Story {
  func refused(_ dnsctl: Dnsctl, _ shop: Shop) async throws {
    console.chapter("A private address is refused")
    console.say(
      "\(Shop.host) is a web shop, and its name leads to this very machine. dnsctl is asked for the request that goes straight to the address:"
    )
    let run = try await dnsctl.run(["rewrite"] + stage.dohOptions + [shop.url("/cart")])
    try console.expect(run.status, is: 3, "dnsctl's exit status")
    try console.expect(run.output, contains: "\(Shop.network) (Loopback", "dnsctl's reason")
    try console.expect(run.output, contains: "--allow", "what dnsctl says would allow it")
    console.say(
      "Anybody can point a name of theirs at a machine of yours. So only public addresses are used, unless you say otherwise."
    )
  }

  func rewritten(_ dnsctl: Dnsctl, _ shop: Shop) async throws {
    console.chapter("A request goes to the address")
    console.say("With that range allowed, the request is shown. Only the lookup was sent:")
    let url = shop.url("/cart")
    let run = try await dnsctl.run(["rewrite"] + stage.dohOptions + ["--allow", Shop.network, url])
    try console.expect(run.status, is: 0, "dnsctl's exit status")
    let port = shop.origin.port
    let rows = [
      "address      \(Shop.address) port \(port)", "URL          http://\(Shop.address):\(port)/cart",
      "Host         \(Shop.host):\(port)", "originalUrl  \(url)",
    ]
    for row in rows { try console.expect(run.output, contains: row, "the rewritten request") }
    try console.expect(shop.origin.connectionCount, is: 0, "connections to the shop")
    console.say(
      "Any HTTP client can send that: the connection goes to the address, and Host says the name.")
  }

  func restored(_ customer: Customer, _ shop: Shop) async throws {
    console.chapter("The response comes back to the name")
    console.say("The library rewrites an order in the same way, and URLSession sends it:")
    let (order, response) = try await customer.send("POST", shop.url("/cart"), body: "item=7")
    try console.expect(shop.origin.requests.count, is: 1, "requests to the shop, no redirect followed")
    try show(order, at: shop, is: "POST /cart")

    console.say("The shop calls itself by its address. Restoring puts the name back:")
    let restorer = ResponseRestorer(for: order)
    let location = restorer.restore(response)?.value(forHTTPHeaderField: "Location") ?? ""
    let cookies = restorer.setCookies(of: response)
    console.show("Location: \(response.value(forHTTPHeaderField: "Location") ?? "")", location)
    console.show("Set-Cookie: \(response.value(forHTTPHeaderField: "Set-Cookie") ?? "")", cookies.joined())
    try console.expect(response.statusCode, is: 302, "the shop's status")
    try console.expect(location, is: shop.url("/paid"), "the restored Location")
    try console.expect(cookies, is: ["basket=7"], "the restored cookie")
    try await followed(customer, shop, order, to: location, with: cookies)
  }

  private func followed(
    _ customer: Customer, _ shop: Shop, _ order: DirectRequest, to location: String, with cookies: [String]
  ) async throws {
    let jar = CookieJar()
    jar.store(setCookie: cookies, for: order.originalURL)
    let owners = jar.cookies.map { "\($0.domain), host-only: \($0.isHostOnly)" }
    try console.expect(owners, is: ["\(Shop.host), host-only: true"], "whose the cookie is")
    let redirect = try Redirect.next(
      after: HTTPResponse(status: .found, headerFields: [.location: location]),
      to: HTTPRequest(method: .post, url: order.originalURL), body: .replayable, hops: 0)
    guard let redirect else { throw StoryError("the shop's response did not redirect") }

    console.say("The cookie is \(Shop.host)'s alone now, and goes along where the redirect leads:")
    let (payment, response) = try await customer.send(
      redirect.request.method.rawValue, redirect.url.href, cookie: jar.cookieHeader(for: redirect.url))
    try show(payment, at: shop, is: "GET /paid")
    try console.expect(response.statusCode, is: 200, "the shop's last status")
    try console.expect(shop.origin.requests.last?.field("Cookie"), is: "basket=7", "the cookie that the shop got")
  }

  /// Shows where a request went, and what the shop got of it.
  private func show(_ direct: DirectRequest, at shop: Shop, is line: String) throws {
    guard let request = shop.origin.requests.last else { throw StoryError("the shop got no request") }
    console.show("\(request.method) \(direct.originalURL)", "\(direct.url)")
    let fields = ["Host", "Cookie"].compactMap { name in request.field(name).map { "\(name): \($0)" } }
    let body = request.body.isEmpty ? [] : [String(decoding: request.body, as: UTF8.self)]
    let shown = ["the shop got", "\(request.method) \(request.target)"] + fields + body
    console.output("  " + shown.joined(separator: "  "))
    try console.expect("\(request.method) \(request.target)", is: line, "what the shop was asked")
    try console.expect(request.host, is: direct.host, "the Host that the shop got")
  }
}
