// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

struct HTTPTransportTests {
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

  @Test(arguments: [
    (HTTPTransportError.connect("x"), "no connection: x"), (.noSocket("x"), "no connection: x"),
    (.refusedByProxy(407), "no connection: the proxy answered 407"), (.tls("x"), "TLS: x"),
    (.timedOut, "timed out"),
    (.fieldsTooLarge, "header fields and trailers are more than what is read"),
    (.bodyTooLarge, "the body is larger than what is read"), (.connectionLost("x"), "connection lost: x"),
    (.invalidRequest("x"), "the request cannot be sent: x"), (.cancelled, "cancelled"),
    (.shutDown, "shut down"),
  ])
  func `an error says what happened`(_ error: HTTPTransportError, _ text: String) {
    #expect(error.description == text)
  }

  @Test func `a body may be as large as the largest DNS message`() {
    #expect(HTTPEndpoint.bodyLimit == 65_536)
  }

  @Test func `endpoints are told apart by URL and addresses`() throws {
    let url = try WebURL("https://a.test/")
    #expect(HTTPEndpoint(url: url) == HTTPEndpoint(url: url))
    #expect(HTTPEndpoint(url: url) != HTTPEndpoint(url: url, addresses: [.ipv4(1)]))
  }
}
