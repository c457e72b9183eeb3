// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct HTTPMessageTests {
  @Test func `a request prints its method, and nothing that may be secret`() {
    let message = HTTPMessage(
      url: "https://a.test/?token=hunter2", fields: [.authorization: "hunter2"],
      body: Array("hunter2".utf8))
    var dumped = ""
    dump(message, to: &dumped)
    for text in [
      "\(message)", String(reflecting: message), dumped, "\([message])", "\(Optional(message) as Any)",
    ] {
      #expect(!text.contains("hunter2") && !text.contains("a.test"))
      #expect(text.contains("POST"))
    }
  }

  @Test func `a body may be as large as the largest DNS message`() {
    #expect(HTTPReply.bodyLimit == 65_536)
  }
}
