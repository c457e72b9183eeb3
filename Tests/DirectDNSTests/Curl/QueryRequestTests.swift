// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct QueryRequestTests {
  @Test func `a route is what it is by identity, whatever another one says`() {
    func route() -> QueryRoute {
      QueryRoute(origin: Origin(Sample.url("https://a.test/")), trust: CurlTrust(file: "/ca.pem"), width: 50)
    }
    let first = route()
    let again = first
    #expect(first === again)
    #expect(first !== route())
  }
}
