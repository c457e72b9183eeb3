// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

/// What one request wants other than its client; the tests of what each option is about have the others.
@Suite(.timeLimit(.minutes(1)))
struct RequestOptionsTests {
  private func code(_ client: DirectClient, _ url: String, _ policy: AddressPolicy?) async -> DirectDNSError.Code? {
    do throws(DirectDNSError) {
      _ = try await client.get(url, options: RequestOptions(policy: policy)).body.text()
      return nil
    } catch {
      return error.code
    }
  }

  @Test func `a request's own policy judges its addresses in place of the client's, be it wider or narrower`()
    async throws
  {
    let origin = try await FakeOrigin.start()
    let url = origin.url("/", host: "shop.test")
    let strict = try ClientSample.client(policy: .publicOnly)
    #expect(await code(strict, url, .any) == nil)
    #expect(await code(strict, url, nil) == .addressForbidden)
    let open = try ClientSample.client(policy: .any)
    #expect(await code(open, url, nil) == nil)
    #expect(await code(open, url, .publicOnly) == .addressForbidden)
    #expect(origin.requests.count == 2)
    #expect(strict.configuration.policy == .publicOnly && open.configuration.policy == .any)
    await strict.shutdown()
    await open.shutdown()
    await origin.stop()
  }

  @Test func `a request's own policy judges its redirects, too`() async throws {
    let target = try await FakeOrigin.start()
    let location = target.url("/", host: "inner.test")
    let origin = try await FakeOrigin.start { _ in OriginResponse(.found, fields: [.location: location]) }
    let client = try ClientSample.client(names: ["shop.test": ["127.0.0.1"], "inner.test": ["127.0.0.1"]])
    let url = origin.url("/", host: "shop.test")
    let own = AddressPolicy(.any, deniedSuffixes: [Sample.name("inner.test")])
    #expect(await code(client, url, own) == .addressForbidden)
    #expect(origin.requests.count == 1 && target.connectionCount == 0)
    #expect(await code(client, url, nil) == nil)
    #expect(target.requests.count == 1)
    await client.shutdown()
    await origin.stop()
    await target.stop()
  }

  @Test func `a request's own jar has its cookies, its redirects' too, and the client's jar has no part in it`()
    async throws
  {
    let origin = try await FakeOrigin.start { request in
      request.path == "/login"
        ? OriginResponse(.found, fields: [.location: "/", .setCookie: "id=\(request.value("user") ?? "")"])
        : OriginResponse(body: request.field("Cookie") ?? "none")
    }
    let shared = CookieJar()
    let client = try ClientSample.client { $0.cookies = shared }
    for user in ["ada", "bob"] {
      let options = RequestOptions(cookies: CookieJar())
      for path in ["/login?user=\(user)", "/"] {
        let response = try await client.get(origin.url(path, host: "shop.test"), options: options)
        #expect(try await response.body.text() == "id=\(user)")
      }
    }
    let response = try await client.get(origin.url("/", host: "shop.test"))
    #expect(try await response.body.text() == "none" && shared.cookies.isEmpty)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `requests of different policies each use the connection that theirs allows`() async throws {
    let origins = try await OriginGroup.start(["127.0.0.1", "127.0.0.2"])
    let client = try ClientSample.client(names: ["shop.test": ["127.0.0.1", "127.0.0.2"]])
    let url = origins[0].url("/", host: "shop.test")
    for isReused in [false, true] {
      for (denied, used) in [("127.0.0.1", "127.0.0.2"), ("127.0.0.2", "127.0.0.1")] {
        let policy = AddressPolicy(.any, deniedNetworks: [IPNetwork(Sample.address(denied))])
        let response = try await client.get(url, options: RequestOptions(policy: policy))
        _ = try await response.body.text()
        #expect(response.connection.remoteAddress == IPAddress(used) && response.connection.isReused == isReused)
      }
    }
    await client.shutdown()
    for origin in origins { await origin.stop() }
  }

  @Test(arguments: [
    ("timeouts.connect", RequestTimeouts(connect: .zero)), ("timeouts.firstByte", RequestTimeouts(firstByte: .zero)),
    ("timeouts.idle", RequestTimeouts(idle: .seconds(-1))), ("timeouts.total", RequestTimeouts(total: .zero)),
  ])
  func `a request whose own timeouts leave no time is refused by their name, and not sent`(
    _ name: String, _ timeouts: RequestTimeouts
  ) async throws {
    let origin = try await FakeOrigin.start()
    let client = try ClientSample.client()
    let error = await #expect(throws: DirectDNSError.self) {
      try await client.get(origin.url("/", host: "shop.test"), options: RequestOptions(timeouts: timeouts))
    }
    #expect(error?.code == .invalidRequest && error?.message.contains(name) == true)
    #expect(origin.connectionCount == 0)
    await client.shutdown()
    await origin.stop()
  }
}
