// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSFoundation
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// How a pipeline that resolves names is tested without a network: a provider and an origin that obey, and a clock moved
/// by hand.
@Suite("A pipeline, tested offline")
struct PipelineTests {
  @Test func `a payment arrives though an address refuses, and though DNS has died`() async throws {
    let records = RecordTable { $0.add("shop.example.test", "127.0.0.2", "127.0.0.1", ttl: 60) }
    let provider = try await FakeProvider.start(records: records)
    let origin = try await FakeOrigin.start { request in OriginResponse(body: "\(request.body.count) bytes") }
    let clock = ManualClock()
    let resolver = try DirectResolver(
      ResolverConfiguration(providers: [try provider.providerConfiguration()]), clock: clock)
    var configuration = DirectClientConfiguration()
    configuration.policy.allowedNetworks = [try IPNetwork(parsing: "127.0.0.0/8")]  // for the test alone
    let client = try DirectClient(configuration, resolver: resolver)
    let url = origin.url("/pay", host: "shop.example.test")  // the name, and the origin's port

    let first = try await client.post(url, body: .text("7 apples"))
    #expect(first.freshness == .fresh)
    #expect(first.connection.failedAddresses.map(\.description) == ["127.0.0.2"])  // nobody listens there
    #expect(try await first.body.text() == "8 bytes")

    provider.misbehave(.status(503))
    clock.advance(by: .seconds(600))
    let second = try await client.post(url, body: .text("8 apples"))
    #expect(second.freshness == .stale)
    #expect(origin.requests.map(\.host) == ["shop.example.test:\(origin.port)", "shop.example.test:\(origin.port)"])

    await client.shutdown()
    resolver.shutdown()
    await provider.stop()
    await origin.stop()
  }

  @Test func `an expired answer serves when the provider has died`() async throws {
    let records = RecordTable { $0.add("www.example.test", "192.0.2.1", ttl: 60) }
    let provider = try await FakeProvider.start(records: records)
    let clock = ManualClock()
    let resolver = try DirectResolver(
      ResolverConfiguration(providers: [try provider.providerConfiguration()]), clock: clock)

    let first = try await resolver.resolve("www.example.test")
    #expect(first.freshness == .fresh)
    #expect(provider.requests.map(\.name) == ["www.example.test", "www.example.test"])  // A and AAAA

    provider.misbehave(.status(503))
    clock.advance(by: .seconds(600))
    let second = try await resolver.resolve("www.example.test")
    #expect(second.freshness == .stale)
    #expect(second.addresses == first.addresses)
    #expect(second.expiredFor == .seconds(540))

    resolver.shutdown()
    await provider.stop()
  }

  @Test func `a request goes to the address, and its cookie stays with the name`() async throws {
    let provider = try await FakeProvider.start(records: RecordTable { $0.add("shop.example.test", "127.0.0.1") })
    let origin = try await FakeOrigin.start { _ in OriginResponse(fields: [.setCookie: "basket=7; Domain=127.0.0.1"]) }
    let resolver = try DirectResolver(ResolverConfiguration(providers: [try provider.providerConfiguration()]))
    let loopback = try IPNetwork(parsing: "127.0.0.0/8")
    let rewriter = RequestRewriter(policy: AddressPolicy(allowedNetworks: [loopback]))

    let cart = try #require(URL(string: origin.url("/cart", host: "shop.example.test")))
    let answer = try await resolver.resolve("shop.example.test")
    guard case .direct(let request, let direct) = rewriter.rewrite(URLRequest(url: cart), using: answer.addresses)
    else {
      throw CancellationError()
    }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpCookieStorage = nil
    let (_, response) = try await URLSession(configuration: configuration).data(for: request)
    #expect(origin.requests.map(\.host) == ["shop.example.test:\(origin.port)"])

    let jar = CookieJar()
    let cookies = ResponseRestorer(for: direct).setCookies(of: try #require(response as? HTTPURLResponse))
    jar.store(setCookie: cookies, for: direct.originalURL)
    #expect(jar.cookieHeader(for: direct.originalURL) == "basket=7")
    #expect(jar.cookieHeader(for: direct.url) == nil)  // nothing for the address

    resolver.shutdown()
    await provider.stop()
    await origin.stop()
  }
}
