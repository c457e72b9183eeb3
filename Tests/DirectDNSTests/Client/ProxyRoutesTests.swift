// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct ProxyRoutesTests {
  private func routes(_ rules: [(String, ProxyRoute)]) throws -> ProxyRoutes {
    var routes = ProxyRoutes()
    for (pattern, route) in rules { routes.set(route, for: try ProxyRoutes.Pattern(pattern)) }
    return routes
  }

  @Test(arguments: [
    ("corp.example", ProxyRoute.system), ("WWW.corp.example", .system), ("a.b.corp.example.", .system),
    ("build.corp.example", .direct), ("x.build.corp.example", .direct), ("only.corp.example", .refuse),
    ("a.only.corp.example", .system), ("badcorp.example", nil), ("example", nil), ("192.0.2.1", nil),
  ])
  func `the most specific rule has a name, whatever order they stand in`(_ host: String, _ route: ProxyRoute?) throws {
    let rules: [(String, ProxyRoute)] = [
      ("*", .upstream), ("corp.example", .system), ("=only.corp.example", .refuse), (".build.corp.example", .direct),
    ]
    #expect(try routes(rules).route(for: WebURL.Host(host)) == route)
    #expect(try routes(rules.reversed()).route(for: WebURL.Host(host)) == route)
    #expect(try routes(rules).otherwise == .upstream)
  }

  @Test func `a rule takes the place of one for the same names`() throws {
    let routes = try routes([("A.example", .system), ("*", .direct), ("a.example", .refuse)])
    #expect(routes.rules.map(\.description) == ["a.example=refuse", "*=direct"])
  }

  @Test func `rules that are alike stand by their names, whatever order they came in`() throws {
    let rules: [(String, ProxyRoute)] = [
      ("b.example", .refuse), ("*", .direct), ("=a.example", .direct), ("a.example", .system), ("x.a.example", .refuse),
    ]
    let expected = [
      "=a.example=direct", "x.a.example=refuse", "a.example=system", "b.example=refuse", "*=direct",
    ]
    #expect(try routes(rules).rules.map(\.description) == expected)
    #expect(try routes(rules.reversed()).rules.map(\.description) == expected)
    var table: [ProxyRoutes.Pattern: ProxyRoute] = [:]
    for (pattern, route) in rules { try table[ProxyRoutes.Pattern(pattern)] = route }
    #expect(try ProxyRoutes(table) == routes(rules))
  }

  @Test(arguments: ["", "=", "=*", "*.example", "a b", "=.a.example"])
  func `what is no pattern is refused`(_ text: String) {
    #expect(throws: DirectDNSError.self) { try ProxyRoutes.Pattern(text) }
  }
}
