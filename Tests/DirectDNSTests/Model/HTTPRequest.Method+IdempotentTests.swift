// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct HTTPRequestMethodIdempotentTests {
  @Test(arguments: [HTTPRequest.Method.get, .head, .options, .trace, .put, .delete])
  func `idempotent methods are those of RFC 9110`(_ method: HTTPRequest.Method) {
    #expect(method.isIdempotent)
    for other in [HTTPRequest.Method.post, .patch, .connect] { #expect(!other.isIdempotent) }
  }
}
