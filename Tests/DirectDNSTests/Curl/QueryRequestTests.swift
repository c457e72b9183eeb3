// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct QueryRequestTests {
  @Test func `a pool is what it is by identity, whatever another one says`() {
    func pool() -> QueryPool {
      QueryPool(origin: "https://a.test:443", usesTLS: true, trust: CurlTrust(file: "/ca.pem"), width: 50)
    }
    let first = pool()
    let again = first
    #expect(first === again)
    #expect(first !== pool())
  }
}
