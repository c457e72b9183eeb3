// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNSProxy

@Suite("Names of fields")
struct FieldNameTests {
  @Test(arguments: [
    ("Host", FieldName.host), ("hOST", .host), ("Transfer-Encoding", .transferEncoding), ("originalUrl", .originalURL),
    ("Hosts", .other), ("Hos", .other), ("", .other), ("X-A-Name-That-Is-Longer-Than-All-That-Are-Known", .other),
    ("@ost", .other), ("Proxy-Connection", .proxyConnection),
    ("WWW-authenticate", .wwwAuthenticate),
  ])
  func `a name is known in any case`(text: String, name: FieldName) {
    #expect(FieldName(Array(text.utf8).span) == name)
  }

  @Test func `what frames a message or says who asks stays, whatever Connection names`() {
    #expect([FieldName.host, .contentLength, .transferEncoding, .authorization, .cookie].allSatisfy { $0.isProtected })
    #expect(![FieldName.other, .te, .keepAlive].contains { $0.isProtected })
  }
}
