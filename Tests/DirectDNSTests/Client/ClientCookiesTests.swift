// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct ClientCookiesTests {
  /// Text cannot hold them, and what it would hold in their place is another cookie.
  @Test func `a cookie of octets that are no UTF-8 is refused, and never sent back as another`() async throws {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nSet-Cookie: good=gr\u{fc}n\u{fffd}\r\nSet-Cookie: bad=gr"
    let sent = Array(head.utf8) + [0xfc] + Array("n; Domain=127.0.0.1\r\n\r\n".utf8)
    let origin = try await FakeOrigin.start { _ in throw OriginFault.bytes(sent) }
    let jar = CookieJar()
    let client = try ClientSample.client { $0.cookies = jar }
    let url = origin.url("/", host: "shop.test")
    let response = try await client.get(url)
    #expect(jar.cookies.map(\.name) == ["good"])
    _ = try await client.get(url)
    #expect(origin.requests.last?.fields[.cookie] == "good=gr\u{fc}n\u{fffd}")
    // Whoever wants the octets finds them in the field, as it came.
    let field = try #require(response.headerFields.first { $0.name == .setCookie && !$0.isText })
    #expect(
      field == HTTPField(name: .setCookie, value: Array("bad=gr".utf8) + [0xfc] + Array("n; Domain=127.0.0.1".utf8)))
    await client.shutdown()
    await origin.stop()
  }

  @Test func `cookies of a hop are stored before the next one, and stay with their host`() async throws {
    let origin = try await FakeOrigin.start { request in
      let port = request.host?.split(separator: ":").last ?? ""
      return switch request.path {
      case "/login":
        OriginResponse(.found, fields: [.location: "/home", .setCookie: "session=1; HttpOnly; Domain=127.0.0.1"])
      case "/home": OriginResponse(.found, fields: [.location: "http://other.test:\(port)/away"])
      default: OriginResponse(body: "end")
      }
    }
    let jar = CookieJar()
    let client = try ClientSample.client(names: ["shop.test": ["127.0.0.1"], "other.test": ["127.0.0.1"]]) {
      $0.cookies = jar
    }
    let response = try await client.execute(
      ClientSample.get(origin.url("/login", host: "shop.test"), [.cookie: "own=2"]))
    #expect(try await response.body.text() == "end" && response.hops.count == 2)
    #expect(origin.requests.map { $0.fields[.cookie] } == ["own=2", "session=1; own=2", nil])
    #expect(jar.cookies.map(\.domain.description) == ["shop.test"], "never the address's")
    await client.shutdown()
    await origin.stop()
  }

  // MARK: This machine

  @Test func `a Secure cookie of localhost does not go through a proxy in clear, nor come from there`() async throws {
    let proxy = try await FakeOrigin.start { _ in OriginResponse(fields: [.setCookie: "new=2; Secure"]) }
    let jar = CookieJar()
    jar.store(setCookie: "id=1; Secure", for: try WebURL("https://localhost/"))
    let url = try WebURL("http://127.0.0.1:\(proxy.port)")
    let proxied = try ClientSample.client {
      $0.cookies = jar
      $0.proxy = .url(url)
    }
    for host in ["localhost", "127.0.0.1"] {
      _ = try await proxied.execute(ClientSample.get(proxy.url("/", host: host))).body.text()
    }
    #expect(proxy.requests.count == 2 && proxy.requests.allSatisfy { !$0.fields.contains(.cookie) })
    #expect(jar.cookies.map(\.name) == ["id"])
    let direct = try ClientSample.client { $0.cookies = jar }
    _ = try await direct.execute(ClientSample.get(proxy.url("/", host: "localhost"))).body.text()
    #expect(proxy.requests.last?.fields[.cookie] == "id=1" && jar.cookies.map(\.name) == ["id", "new"])
    await proxied.shutdown()
    await direct.shutdown()
    await proxy.stop()
  }

  @Test(arguments: [
    (["127.0.0.1", "::1"], true), (["127.0.0.1", "192.0.2.1"], false), (["192.0.2.1"], false), ([], false),
  ])
  func `a request stays on this machine if all of its addresses are this machine's`(
    _ addresses: [String], _ expected: Bool
  ) throws {
    let url = try WebURL("http://x.localhost/")
    let target = RequestTarget(url, url.host, [:])
    target.addresses = addresses.map(Sample.address)
    #expect(target.staysOnMachine == expected)
    target.proxy = CurlProxy(try WebURL("http://127.0.0.1/"), resolvedHost: nil)
    #expect(!target.staysOnMachine)
  }

  @Test func `without a jar nothing is kept`() async throws {
    let origin = try await FakeOrigin.start { _ in OriginResponse(fields: [.setCookie: "session=1"]) }
    let client = try ClientSample.client()
    for _ in 0..<2 {
      _ = try await client.execute(ClientSample.get(origin.url("/", host: "shop.test"))).body.text()
    }
    #expect(origin.requests.allSatisfy { !$0.fields.contains(.cookie) })
    await client.shutdown()
    await origin.stop()
  }
}
