// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct CurlRouteTests {
  @Test(arguments: [
    (HTTPVersionChoice.http1, true, PoolLoad.Multiplexing.never), (.http1, false, .never),
    (.automatic, true, .unknown), (.automatic, false, .never), (.http2, true, .always),
    (.http2, false, CurlVersion.reusesPlainHTTP2 ? .always : .never),
  ])
  func `what is known of a route's connections before there is one goes by its version and by TLS`(
    _ version: HTTPVersionChoice, _ usesTLS: Bool, _ multiplexing: PoolLoad.Multiplexing
  ) {
    let route = CurlRoute(
      origin: "example", usesTLS: usesTLS, version: version, proxy: nil, showsIdentity: false)
    #expect(route.multiplexing == multiplexing)
    #expect(route.servesOnce == (version == .http2 && multiplexing == .never))
  }

  @Test(arguments: [
    (HTTPVersionChoice.http1, true, false), (.http1, false, false), (.automatic, true, true),
    (.automatic, false, false), (.http2, true, true), (.http2, false, true),
  ])
  func `a route may speak HTTP/2 where TLS can agree on it, or where it is known before`(
    _ version: HTTPVersionChoice, _ usesTLS: Bool, _ maySpeakHTTP2: Bool
  ) {
    let route = CurlRoute(
      origin: "example", usesTLS: usesTLS, version: version, proxy: nil, showsIdentity: false)
    #expect(route.maySpeakHTTP2 == maySpeakHTTP2)
  }

  @Test(arguments: [
    ("http://127.0.0.1:80", "http://127.0.0.1:80/"), ("http://proxy.example", "http://proxy.example:80/"),
    ("https://proxy.example:443/a?b", "https://proxy.example:443/"), ("http://[::1]:3128", "http://[::1]:3128/"),
    ("http://ann:s%40fe@proxy.example:80", "http://ann:s%40fe@proxy.example:80/"),
  ])
  func `libcurl is always told the port of a proxy, since it would take 1080 for an http proxy`(
    _ url: String, _ told: String
  ) throws {
    #expect(try CurlProxy(WebURL(url), resolvedHost: nil).url == told)
  }

  @Test(arguments: [false, true])
  func `where libcurl mixes connections to a proxy, those without a tunnel serve one request each`(
    _ usesTLS: Bool
  ) throws {
    let route = try CurlRoute(
      origin: "example", usesTLS: usesTLS, version: .automatic,
      proxy: CurlProxy(WebURL("http://192.0.2.1"), resolvedHost: nil), showsIdentity: false)
    #expect(route.servesOnce == (!usesTLS && CurlVersion.mixesProxied))
  }

  @Test func `a proxy whose addresses come in another order is the same one`() throws {
    let url = try WebURL("http://proxy.example:3128")
    func proxy(_ addresses: String...) -> CurlProxy {
      CurlProxy(
        url,
        resolvedHost: .init(host: "proxy.example", port: 3128, addresses: addresses.compactMap { IPAddress($0) }))
    }
    let both = proxy("192.0.2.1", "2001:db8::1")
    #expect(both == proxy("2001:db8::1", "192.0.2.1"))
    #expect(both.hashValue == proxy("2001:db8::1", "192.0.2.1").hashValue)
    #expect(both != proxy("192.0.2.1"))
    #expect(both.resolvedHost?.resolveEntry == "proxy.example:3128:192.0.2.1,[2001:db8::1]")
  }
}
