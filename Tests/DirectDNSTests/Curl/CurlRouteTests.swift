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
}
