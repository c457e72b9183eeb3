// SPDX-License-Identifier: Apache-2.0
import CDirectDNSCurl
import DirectDNSTesting
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct CurlHandleTests {
  private final class Owner {}

  @Test func `a handle leads back to its owner, until it is reset, and to nobody of another kind`() throws {
    let handle = try #require(CurlHandle())
    #expect(unsafe CurlHandle.owner(of: handle.pointer, as: Owner.self) == nil)
    let owner = Owner()
    handle.setOwner(owner)
    #expect(unsafe CurlHandle.owner(of: handle.pointer, as: Owner.self) === owner)
    handle.reset()
    #expect(unsafe CurlHandle.owner(of: handle.pointer, as: Owner.self) == nil)
  }

  @Test func `renewed, it has no options, and has begun no transfer`() throws {
    let handle = try #require(CurlHandle())
    let owner = Owner()
    handle.setOwner(owner)
    #expect(handle.canBeginHTTP1)
    handle.countTransfer()
    // What a handle's only transfer brings is appended to nothing.
    #expect(handle.canReceive(overPlainHTTP2: false))
    #expect(handle.canBeginHTTP1 == CurlVersion.forgetsFields)
    handle.countTransfer()
    #expect(handle.canReceive(overPlainHTTP2: false) == CurlVersion.forgetsFields)
    #expect(handle.canReceive(overPlainHTTP2: true))
    #expect(handle.renew())
    #expect(unsafe CurlHandle.owner(of: handle.pointer, as: Owner.self) == nil)
    #expect(handle.canBeginHTTP1)
  }

  @Test func `it says in libcurl's words why a transfer failed, once that is its owner's`() throws {
    let handle = try #require(CurlHandle())
    let owner = Owner()
    handle.setOwner(owner)
    handle.set(CURLOPT_URL, "gopherx://a.test/")
    #expect(unsafe curl_easy_perform(handle.pointer) == CURLE_UNSUPPORTED_PROTOCOL)
    #expect(handle.failureText.contains("gopherx"))
    handle.forgetFailure()
    #expect(handle.failureText == "")
  }

  /// Sends the request that a handle has the URL of, and returns by which line and for which host it arrived.
  private func send(by handle: CurlHandle, to server: FakeProvider) throws -> [String] {
    unsafe directdns_setopt_write(handle.pointer, handle.pointer) { _, size, count, _ in size * count }
    #expect(!handle.lacksOption)
    #expect(unsafe curl_easy_perform(handle.pointer) == CURLE_OK)
    let request = try #require(server.requests.last)
    return [String(decoding: request.rawHead.prefix { $0 != 0x0D }, as: UTF8.self), request.host ?? ""]
  }

  @Test(arguments: ["/", "/?", "/a?b=c/d&e=%2f", "/a?b?c", "//a//b", "/a/../b", "/%c3%a9", "/a%20b+c"])
  func `of a URL goes what is behind its origin, as it stands, whatever was sent before`(
    _ target: String
  ) async throws {
    let server = try await FakeProvider.start()
    let handle = try #require(CurlHandle())
    let connectTo = CurlList(["::127.0.0.1:\(server.port)"])
    handle.setNoProxy()
    handle.set(CURLOPT_CONNECT_TO, connectTo)
    let sent = "GET \(target) HTTP/1.1"
    // One with a fragment is for libcurl to take apart; the others have hosts of one length.
    for (path, host, line) in [
      ("/first", "a.test", "GET /first HTTP/1.1"), (target, "a.test", sent), (target, "b.test", sent),
      ("/last#end", "b.test", "GET /last HTTP/1.1"), (target, "b.test", sent), (target, "a.test", sent),
    ] {
      handle.setURL(server.url(path, host: host))
      #expect(try send(by: handle, to: server) == [line, "\(host):\(server.port)"])
    }
    withExtendedLifetime(connectTo) {}
    await server.stop()
  }

  @Test func `what libcurl has to escape is left to it`() async throws {
    let server = try await FakeProvider.start()
    let handle = try #require(CurlHandle())
    handle.setNoProxy()
    for _ in 0..<2 {
      handle.setURL(server.url("/a?b"))
      #expect(try send(by: handle, to: server)[0] == "GET /a?b HTTP/1.1")
      handle.setURL(server.url("/\u{E9}?b"))
      // Later versions write the digits in upper case.
      #expect(try send(by: handle, to: server)[0].uppercased() == "GET /%C3%A9?B HTTP/1.1")
    }
    await server.stop()
  }

  @Test func `what is wrong with a URL that cannot be parsed is for libcurl to say`() throws {
    let handle = try #require(CurlHandle())
    let owner = Owner()
    handle.setOwner(owner)
    handle.setURL("http://127.0.0.1:0x/")
    #expect(unsafe curl_easy_perform(handle.pointer) == CURLE_URL_MALFORMAT)
    // Before 8.2 it says nothing.
    #expect(!handle.failureText.hasPrefix("No URL"))
  }

  @Test func `no URL is left for what a handle sends that was reset or renewed, or goes to a proxy`() async throws {
    let server = try await FakeProvider.start()
    let handle = try #require(CurlHandle())
    let host = "127.0.0.1:\(server.port)"
    handle.setNoProxy()
    handle.setURL(server.url("/before"))
    #expect(try send(by: handle, to: server) == ["GET /before HTTP/1.1", host])
    // As for a probe, or to free what is held back.
    handle.reset()
    handle.setNoProxy()
    handle.set(CURLOPT_URL, server.url("/plain"))
    #expect(try send(by: handle, to: server) == ["GET /plain HTTP/1.1", host])
    handle.setURL(server.url("/after"))
    #expect(try send(by: handle, to: server) == ["GET /after HTTP/1.1", host])
    #expect(handle.renew())
    handle.setNoProxy()
    handle.setURL(server.url("/renewed"))
    #expect(try send(by: handle, to: server) == ["GET /renewed HTTP/1.1", host])
    handle.set(CURLOPT_PROXY, server.url())
    handle.set(CURLOPT_NOPROXY, "")
    handle.setURL("http://o.test/proxied?q", isSentWhole: true)
    #expect(try send(by: handle, to: server) == ["GET http://o.test/proxied?q HTTP/1.1", "o.test"])
    await server.stop()
  }

  @Test func `a handle lacks an option whose list has no memory for a string, until it is reset`() throws {
    let handle = try #require(CurlHandle())
    var list = CurlList(["a: b"])
    handle.set(CURLOPT_HTTPHEADER, list)
    #expect(!handle.lacksOption)
    unsafe list.take(nil)
    handle.set(CURLOPT_HTTPHEADER, list)
    #expect(handle.lacksOption)
    handle.reset()
    #expect(!handle.lacksOption)
  }

  @Test func `a handle that has sent nothing has nothing to tell`() throws {
    let handle = try #require(CurlHandle())
    handle.setBody([])
    handle.setBody([1, 2, 3])
    #expect(handle.number(CURLINFO_RESPONSE_CODE) == 0)
    #expect(handle.time(CURLINFO_TOTAL_TIME_T) == .zero && handle.offset(CURLINFO_SIZE_UPLOAD_T) == 0)
    #expect(handle.text(CURLINFO_PRIMARY_IP) ?? "" == "")
  }

  @Test func `a callback without a context calls nobody`() {
    let context: UnsafeMutableRawPointer? = nil
    #expect(unsafe context.object(Owner.self) == nil)
    #expect(unsafe context.call(Owner.self) { _ in true } == nil)
  }
}
