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

  @Test func `no request gets a connection to a proxy that another origin's was sent on`() async throws {
    let proxy = try await FakeOrigin.start { request in OriginResponse(body: request.target) }
    let url = try WebURL("http://127.0.0.1:\(proxy.port)")
    let client = try client { $0.proxy = .url(url) }
    for target in ["http://shop.test/", "http://shop.test:81/"] {
      let response = try await client.execute(ClientSample.get(target))
      #expect(try await response.body.text() == target && !response.connection.isReused)
    }
    await client.shutdown()
    await proxy.stop()
  }

  @Test func `a body that is too long may be the proxy's, which is named`() async throws {
    let proxy = try await FakeOrigin.start { _ in OriginResponse(body: "long") }
    let url = try WebURL("http://user:word@127.0.0.1:\(proxy.port)")
    let client = try client { $0.proxy = .url(url) }
    let error = await #expect(throws: DirectDNSError.self) {
      try await client.get("http://shop.test/").body.collect(upTo: 3)
    }
    let words = "The body of http://shop.test's response through the proxy http://127.0.0.1:\(proxy.port) has more than"
    #expect(error?.code == .bodyTooLarge && error?.message.hasPrefix(words) == true)
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
    #expect(message.hasPrefix("The proxy http://127.0.0.1:\(proxy.port) could not be connected to: "), "\(message)")
    await client.shutdown()
  }

  /// The port of a proxy that gives its first client this answer, and ends.
  private static func proxy(answering answer: String) throws -> UInt16 {
    let place = try #require(LoopbackListener())
    let listener = place.descriptor
    Thread {
      let connection = accept(listener, nil, nil)
      close(listener)
      TalkativeServer.answer(connection, answer)
      close(connection)
    }.start()
    return place.port
  }

  @Test(arguments: [
    ("", "ended the connection before it had opened a tunnel to https://shop.test"),
    ("HTTP/1.1 103 Early Hints\r\n\r\n", "opens no tunnel to https://shop.test: it answered 103, after which"),
  ])
  func `a proxy that gives way to CONNECT has failed itself, and the origin has heard nothing`(
    _ answer: String, _ text: String
  ) async throws {
    let port = try Self.proxy(answering: answer)
    let url = try WebURL("http://127.0.0.1:\(port)")
    let client = try client { $0.proxy = .url(url) }
    let error = await #expect(throws: DirectDNSError.self) { try await client.get("https://shop.test/") }
    #expect(error?.code == .connectFailed && error?.mayHaveReachedServer == false)
    let message = error?.message ?? ""
    #expect(message.hasPrefix("The proxy http://127.0.0.1:\(port) \(text)"), "\(message)")
    await client.shutdown()
  }

  @Test(arguments: [
    ("SSH-2.0-x\r\n\r\n", "The proxy ", " sent a response that cannot be read: "),
    ("HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\n", "The proxy ", " sent a response that cannot be read: "),
    ("", "The connection to the proxy ", " ended before a response came: "),
  ])
  func `without a tunnel it is the proxy that answers wrongly, or not at all`(
    _ answer: String, _ start: String, _ text: String
  ) async throws {
    let port = try Self.proxy(answering: answer)
    let url = try WebURL("http://127.0.0.1:\(port)")
    let client = try client { $0.proxy = .url(url) }
    let error = await #expect(throws: DirectDNSError.self) { try await client.get("http://shop.test/") }
    let message = error?.message ?? ""
    #expect(message.hasPrefix("\(start)http://127.0.0.1:\(port)\(text)"), "\(message)")
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

  // MARK: Tunnels

  /// An origin by https, and a proxy that opens a tunnel to it.
  private func tunnelled(
    _ name: String, answer: String = "HTTP/1.1 200 Connection established\r\n\r\n",
    _ body: (FakeOrigin, TunnelProxy) async throws -> Void
  ) async throws {
    let origin = try await FakeOrigin.start(
      configuration: FakeOriginConfiguration(identity: try authority.issue(names: [name])))
    let proxy = try #require(TunnelProxy(to: origin.port, answer: answer))
    try await body(origin, proxy)
    proxy.stop()
    await origin.stop()
  }

  @Test func `by https an origin is spoken to through the proxy, and neither hears what is the other's`() async throws {
    let answer = "HTTP/1.1 200 Connection established\r\nSet-Cookie: proxy=1\r\nX-Proxy: yes\r\n\r\n"
    try await tunnelled("shop.test", answer: answer) { origin, proxy in
      let url = try WebURL("http://user:word@127.0.0.1:\(proxy.port)")
      let jar = CookieJar()
      let client = try client {
        $0.proxy = .url(url)
        $0.cookies = jar
      }
      let fields: HTTPFields = [.authorization: "Bearer x", .cookie: "own=1", .proxyAuthorization: "mine"]
      for number in 0..<2 {
        let response = try await client.execute(ClientSample.get(origin.url("/\(number)", host: "shop.test"), fields))
        #expect(try await response.body.text().contains("GET /\(number) "))
        #expect(response.connection.isReused == (number == 1) && response.connection.remoteAddress == nil)
        #expect(!response.headerFields.contains { $0.name.canonicalName == "x-proxy" })
      }
      #expect(jar.cookies.isEmpty)
      let place = "shop.test:\(origin.port)"
      let head = try #require(proxy.heads.first)
      #expect(proxy.heads.count == 1 && head.hasPrefix("CONNECT \(place) HTTP/1.1\r\nHost: \(place)\r\n"), "\(head)")
      #expect(head.contains("\r\nProxy-Authorization: Basic dXNlcjp3b3Jk\r\n"))
      for secret in ["Bearer", "own=1", "mine"] { #expect(!head.contains(secret)) }
      #expect(origin.requests.map(\.serverName) == ["shop.test", "shop.test"])
      #expect(origin.requests.map { $0.fields[.authorization] } == ["Bearer x", "Bearer x"])
      #expect(origin.requests.map { $0.fields[.proxyAuthorization] } == [nil, nil])
      await client.shutdown()
    }
  }

  @Test func `through a tunnel the certificate has to be the origin's as ever`() async throws {
    try await tunnelled("other.test") { origin, proxy in
      let url = try WebURL("http://127.0.0.1:\(proxy.port)")
      let client = try client { $0.proxy = .url(url) }
      let error = await #expect(throws: DirectDNSError.self) {
        try await client.get(origin.url("/", host: "shop.test"))
      }
      #expect(error?.code == .tlsFailed && origin.requests.isEmpty, "\(String(describing: error))")
      #expect(error?.message.hasPrefix("TLS with https://shop.test:\(origin.port) failed: ") == true)
      #expect(try await client.get(origin.url("/", host: "other.test")).status == .ok)
      await client.shutdown()
    }
  }

  @Test(arguments: [
    (407, ": check the name and the password that it is given, as Basic, which it has to take"), (403, ""), (502, ""),
  ])
  func `a proxy that opens no tunnel is told with its status, and the origin has heard nothing`(
    _ status: Int, _ advice: String
  ) async throws {
    try await tunnelled("shop.test", answer: "HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n") { origin, proxy in
      let url = try WebURL("http://user:word@127.0.0.1:\(proxy.port)")
      let client = try client { $0.proxy = .url(url) }
      let error = await #expect(throws: DirectDNSError.self) {
        try await client.post(origin.url("/", host: "shop.test"), body: .text("pay"))
      }
      #expect(error?.code == .connectFailed && error?.mayHaveReachedServer == false)
      let message = error?.message ?? ""
      let words = "opens no tunnel to https://shop.test:\(origin.port): it answered \(status)\(advice)"
      #expect(message.hasPrefix("The proxy http://127.0.0.1:\(proxy.port) \(words)"), "\(message)")
      #expect(proxy.heads.count == 1 && origin.connectionCount == 0)
      await client.shutdown()
    }
  }
}
