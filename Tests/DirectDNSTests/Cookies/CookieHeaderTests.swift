// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct CookieHeaderTests {
  private func value(_ fields: String..., limit: Int = 8_190) -> String? {
    CookieHeader.value(of: fields.compactMap { Sample.cookie($0) }, limit: limit)
  }

  @Test func `pairs stand in the order given; one without a name is its value alone`() {
    #expect(value("b=1", "a=\"2\"", "c=", "d") == "b=1; a=\"2\"; c=; d")
    #expect(value() == nil)
  }

  @Test func `a line has at most so many bytes, and a cookie that no longer fits is left out`() {
    // "Cookie: a=1; b=22; c=3" has 22 bytes.
    #expect(value("a=1", "b=22", "c=3", limit: 22) == "a=1; b=22; c=3")
    #expect(value("a=1", "b=22", "c=3", limit: 21) == "a=1; b=22")
    #expect(value("a=1", "b=22", "c=3", limit: 16) == "a=1; c=3")
    #expect(value("a=1", limit: 10) == nil)
  }

  @Test func `bytes are counted, not characters`() {
    #expect(value("é=é", limit: 13) == "é=é")
    #expect(value("é=é", limit: 12) == nil)
  }
}
