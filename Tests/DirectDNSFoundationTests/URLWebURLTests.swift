// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSFoundation
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

@Suite(.timeLimit(.minutes(1)))
struct URLWebURLTests {
  @Test(arguments: ["https://shop.test/a?b=c#d", "http://user@shop.test:8080/", "https://[2001:db8::1]/"])
  func `a URL is the same in Foundation and by the URL standard`(_ text: String) throws {
    let url = try #require(URL(string: text))
    let read = try WebURL(url)
    #expect(read.href == text && URL(read) == url)
  }

  @Test(arguments: ["mailto:me@shop.test", "/path", "http:///"])
  func `a URL without a host is refused`(_ text: String) throws {
    let url = try #require(URL(string: text))
    let error = #expect(throws: DirectDNSError.self) { try WebURL(url) }
    #expect(error?.code == .invalidURL)
  }

  @Test func `requests take a URL of Foundation's`() async throws {
    let origin = try await FakeOrigin.start { request in
      OriginResponse(body: "\(request.method) \(String(decoding: request.body, as: UTF8.self))")
    }
    var configuration = DirectClientConfiguration()
    configuration.policy = .any
    let client = try DirectClient(configuration)
    let url = try #require(URL(string: "http://127.0.0.1:\(origin.port)/"))
    #expect(try await client.get(url).body.text() == "GET ")
    #expect(try await client.post(url, body: .text("paid")).body.text() == "POST paid")
    #expect(try await client.put(url, body: .text("paid")).body.text() == "PUT paid")
    #expect(try await client.patch(url, body: .text("paid")).body.text() == "PATCH paid")
    #expect(try await client.delete(url).body.text() == "DELETE ")
    #expect(try await client.head(url).status.code == 200)
    await client.shutdown()
    await origin.stop()
  }
}
