// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct CurlVersionTests {
  @Test func `what libcurl can do goes by its version`() throws {
    // Behind the number a version that is no release has a word.
    let parts = CurlVersion().number.split { !$0.isNumber }.compactMap { Int($0) }
    try #require(parts.count >= 3)
    let number = (parts[0], parts[1], parts[2])
    #expect(CurlVersion.forgetsFields == (number >= (8, 1, 1)))
    #expect(CurlVersion.reusesPlainHTTP2 == (number >= (8, 0, 0)))
    #expect(CurlVersion.losesResponses == (number < (8, 1, 0)))
    #expect(CurlVersion.failsAtEndOfStream == (number >= (8, 3, 0)))
    #expect(CurlVersion.closesUntold == (number >= (7, 88, 0) && number < (8, 2, 0)))
    #expect(CurlVersion.countsByAddress == (number >= (8, 21, 0)))
    #expect(CurlVersion.mixesProxied == (number >= (8, 21, 0)))
  }

  @Test func `it has TLS and HTTP/2`() {
    #expect(CurlVersion().tls?.isEmpty == false && CurlVersion().http2?.isEmpty == false)
  }
}
