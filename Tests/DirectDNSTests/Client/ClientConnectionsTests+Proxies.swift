// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@testable import DirectDNS
@testable import DirectDNSTesting

/// How a client goes through a proxy.
extension ClientConnectionsTests {
  @Test func `a proxy gets the name, and an origin never the proxy's password`() async throws {
    let proxy = try await FakeOrigin.start { request in OriginResponse(body: request.target) }
    let url = try WebURL("http://user:word@127.0.0.1:\(proxy.port)")
    let client = try client { $0.proxy = .url(url, except: "other.test") }
    let response = try await client.execute(
      ClientSample.get("http://shop.test/a?b", [.proxyAuthorization: "mine"]))
    #expect(try await response.body.text() == "http://shop.test/a?b")
    #expect(response.connection.remoteAddress == nil && response.resolution == nil)
    #expect(proxy.requests.first?.fields[.proxyAuthorization] == "Basic dXNlcjp3b3Jk")
    let direct = try await client.execute(
      ClientSample.get(proxy.url("/c", host: "other.test"), [.proxyAuthorization: "mine"]))
    #expect(try await direct.body.text() == "/c" && proxy.requests.last?.fields[.proxyAuthorization] == nil)
    await client.shutdown()
    await proxy.stop()
  }

  @Test func `an address that is given for a proxy's name and port is used for it`() async throws {
    let proxy = try await FakeOrigin.start { request in OriginResponse(body: request.target) }
    let url = try WebURL("http://proxy.invalid:\(proxy.port)")
    let host = try HostName("proxy.invalid")
    let client = try ClientSample.client {
      $0.proxy = .url(url)
      $0.pins[HostPort(host: host, port: UInt16(proxy.port))] = [.ipv4(0x7F00_0001)]
    }
    let text = try await client.get("http://shop.test/a").body.text()
    #expect(text == "http://shop.test/a")
    await client.shutdown()
    await proxy.stop()
  }

  @Test func `a proxy that is not there is named, and not the origin, nor the proxy's password`() async throws {
    let proxy = try await FakeOrigin.start()
    let url = try WebURL("http://user:word@127.0.0.1:\(proxy.port)/path")
    await proxy.stop()
    let client = try client { $0.proxy = .url(url) }
    let error = await #expect(throws: DirectDNSError.self) {
      try await client.execute(ClientSample.get("http://shop.test/"))
    }
    #expect(error?.code == .connectFailed, "\(String(describing: error))")
    let message = error?.message ?? ""
    #expect(message.hasPrefix("the proxy http://127.0.0.1:\(proxy.port) could not be connected to: "), "\(message)")
    await client.shutdown()
  }

  @Test(arguments: [
    ("", "ended the connection before it had opened a tunnel to https://shop.test"),
    ("HTTP/1.1 103 Early Hints\r\n\r\n", "opens no tunnel to https://shop.test: it answered 103, after which"),
  ])
  func `a proxy that gives way to CONNECT has failed itself, and the origin has heard nothing`(
    _ answer: String, _ text: String
  ) async throws {
    let place = try #require(LoopbackListener())
    let (listener, port) = (place.descriptor, place.port)
    Thread {
      let connection = accept(listener, nil, nil)
      close(listener)
      TalkativeServer.answer(connection, answer)
      close(connection)
    }.start()
    let url = try WebURL("http://127.0.0.1:\(port)")
    let client = try client { $0.proxy = .url(url) }
    let error = await #expect(throws: DirectDNSError.self) { try await client.get("https://shop.test/") }
    #expect(error?.code == .connectFailed && error?.mayHaveReachedServer == false)
    let message = error?.message ?? ""
    #expect(message.hasPrefix("the proxy http://127.0.0.1:\(port) \(text)"), "\(message)")
    await client.shutdown()
  }

  @Test func `through a proxy the name's addresses are judged all the same`() async throws {
    let proxy = try await FakeOrigin.start()
    let url = try WebURL("http://127.0.0.1:\(proxy.port)")
    let client = try ClientSample.client(policy: .publicOnly) { $0.proxy = .url(url) }
    let error = await #expect(throws: DirectDNSError.self) {
      try await client.execute(ClientSample.get("http://shop.test/"))
    }
    #expect(error?.code == .addressForbidden && proxy.connectionCount == 0)
    await client.shutdown()
    await proxy.stop()
  }
}
