// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import DirectDNS
import DirectDNSTesting
import HTTPTypes
import NIOCore
import NIOSSL
import Testing

@testable import DirectDNSAsyncHTTPClient

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// In this package, since it takes minutes to build AsyncHTTPClient.
@Suite("AsyncHTTPClient going direct", .timeLimit(.minutes(2)))
struct DirectHTTPClientTests {
  static let local = AddressPolicy.any

  /// A resolver that knows these names, and asks this provider for all others.
  func resolver(
    _ names: [String: [String]] = ["a.test": ["127.0.0.1"]], asking provider: FakeProvider? = nil
  ) throws -> DirectResolver {
    var configuration = ResolverConfiguration(
      providers: try provider.map { [try ProviderConfiguration("json+\($0.url("/resolve"))")] } ?? [])
    configuration.usesSystemDNS = provider == nil
    configuration.timeout = .seconds(3600)
    for (name, addresses) in names {
      configuration.localZones.pins[try HostName(name)] = addresses.compactMap { IPAddress($0) }
    }
    return try DirectResolver(configuration)
  }

  func withOrigin(
    _ configuration: FakeOriginConfiguration = .init(),
    answering handler: @escaping FakeOrigin.Handler = OriginResponse.echo, _ body: (FakeOrigin) async throws -> Void
  ) async throws {
    let origin = try await FakeOrigin.start(configuration: configuration, handler: handler)
    do { try await body(origin) } catch {
      await origin.stop()
      throw error
    }
    await origin.stop()
  }

  func configuration(trusting authority: TestCertificateAuthority) throws -> HTTPClient.Configuration {
    var tls = TLSConfiguration.makeClientConfiguration()
    let root = try NIOSSLCertificate(bytes: Array(authority.certificate.utf8), format: .pem)
    tls.additionalTrustRoots = [.certificates([root])]
    // No test is to pass because connecting was given up in the end.
    return HTTPClient.Configuration(tlsConfiguration: tls, timeout: .init(connect: .hours(1)))
  }

  func send(
    _ url: String, by client: DirectHTTPClient, timeout: TimeAmount = .minutes(1)
  ) async throws -> (response: HTTPClientResponse, text: String) {
    let response = try await client.execute(HTTPClientRequest(url: url), timeout: timeout)
    return (response, String(buffer: try await response.body.collect(upTo: 1 << 20)))
  }

  // MARK: The end of a client

  @Test func `a client that goes without a shutdown lets its connections go`() async throws {
    try await withOrigin { origin in
      do {
        let client = DirectHTTPClient(resolver: try resolver(), policy: Self.local)
        _ = try await send(origin.url("/", host: "a.test"), by: client)
      }
      #expect(await origin.waitForOpenConnections(0))
    }
  }

  @Test func `a response can be read when its client has gone`() async throws {
    let gate = Gate()
    try await withOrigin(answering: { _ in
      OriginResponse { body in
        try await gate.pass()
        try await body.write("late")
      }
    }) { origin in
      var client: DirectHTTPClient? = DirectHTTPClient(resolver: try resolver(), policy: Self.local)
      var response = try await client?.execute(
        HTTPClientRequest(url: origin.url("/", host: "a.test")), timeout: .minutes(1))
      client = nil
      gate.open()
      #expect(try await response?.body.collect(upTo: 100) == ByteBuffer(string: "late"))
      response = nil
      #expect(await origin.waitForOpenConnections(0))
    }
  }

  @Test func `after its shutdown a client refuses what it is asked`() async throws {
    try await withOrigin { origin in
      let client = DirectHTTPClient(resolver: try resolver(), policy: Self.local)
      await client.shutdown()
      await client.shutdown()
      await #expect(throws: HTTPClientError.alreadyShutdown) {
        try await send(origin.url("/", host: "a.test"), by: client)
      }
      #expect(origin.requests.isEmpty)
    }
  }

  @Test func `a request that waits for its lookup ends with the client, and sends nothing`() async throws {
    let provider = try await FakeProvider.start(records: RecordTable { $0.add("slow.example.com", "127.0.0.1") })
    provider.misbehave(.hold)
    try await withOrigin { origin in
      let client = DirectHTTPClient(resolver: try resolver(asking: provider), policy: Self.local)
      let asking = Task { try await send(origin.url("/", host: "slow.example.com"), by: client) }
      await provider.waitForHeld()
      await client.shutdown()
      provider.behave()
      provider.release()
      await #expect(throws: HTTPClientError.alreadyShutdown) { try await asking.value }
      #expect(origin.requests.isEmpty)
    }
    await provider.stop()
  }

  // MARK: Time

  @Test(arguments: ["slow.example.com", "a.test"])
  func `the time covers the lookup, that of a redirect too`(_ host: String) async throws {
    let provider = try await FakeProvider.start(records: RecordTable { $0.add("slow.example.com", "127.0.0.1") })
    provider.misbehave(.hang)
    try await withOrigin(answering: { request in
      let port = request.host?.split(separator: ":").last ?? ""
      return OriginResponse(.found, fields: [.location: "http://slow.example.com:\(port)/"])
    }) { origin in
      let client = DirectHTTPClient(resolver: try resolver(asking: provider), policy: Self.local)
      // The resolver's own limit is an hour.
      let error = await #expect(throws: DirectDNSError.self) {
        try await send(origin.url("/", host: host), by: client, timeout: .seconds(2))
      }
      #expect(error?.code == .timedOut || error?.code == .upstreamFailed)
    }
    await provider.stop()
  }

  @Test func `with no time left nobody is asked`() async throws {
    let provider = try await FakeProvider.start(records: RecordTable { $0.add("slow.example.com", "127.0.0.1") })
    let client = DirectHTTPClient(resolver: try resolver(asking: provider), policy: Self.local)
    await #expect(throws: HTTPClientError.deadlineExceeded) {
      try await send("http://slow.example.com/", by: client, timeout: .seconds(-5))
    }
    #expect(provider.requests.isEmpty)
    await provider.stop()
  }

  // MARK: Addresses

  @Test(arguments: [
    // A second for each while there is time, and their shares when there is not; the last one has the rest.
    (30_000, 2, 1000, 1000), (2000, 2, 1000, 1000), (1999, 2, 1000, 900), (1000, 2, 1000, 500), (600, 1, 1000, 600),
    (599, 1, 1000, 500), (1000, 3, 1000, 300), (150, 2, 1000, 75), (150, 2, 100, 70), (1, 1, 1000, 1),
  ])
  func `an attempt takes its share of the time at most, in tenths`(
    left: Int64, addresses: Int, attempt: Int64, expected: Int64
  ) {
    let time = DirectHTTPClient.connectTime(
      left: .milliseconds(left), addresses: addresses, attempt: .milliseconds(attempt))
    #expect(time == .milliseconds(expected))
  }

  @Test(.enabled(if: BlackHole.missing == nil, "no black hole here"))
  func `the next address gets its turn, however little time there is for all`() async throws {
    try await withOrigin { origin in
      let hole = try await BlackHole.start(address: try #require(IPAddress("127.0.0.2")), port: origin.port)
      let client = DirectHTTPClient(
        resolver: try resolver(["two.test": ["127.0.0.2", "127.0.0.1"]]), policy: Self.local,
        attemptTimeout: .seconds(10))
      // The first one gets less than a half of it.
      let response = try await send(origin.url("/", host: "two.test"), by: client, timeout: .seconds(4)).response
      #expect(response.status == .ok)
      await hole.stop()
    }
  }

  @Test func `an address that was the only one has no more time than others once it is not`() async throws {
    let authority = try TestCertificateAuthority()
    let identity = try authority.issue(names: ["two.example.com"])
    let provider = try await FakeProvider.start(records: RecordTable { $0.add("two.example.com", "127.0.0.2") })
    try await withOrigin(.init(identity: identity)) { origin in
      let address = try #require(IPAddress("127.0.0.2"))
      let mute = try await FakeOrigin.start(
        configuration: .init(identity: identity, address: address, port: origin.port))
      mute.isMute = true
      let resolver = try resolver(asking: provider)
      let client = DirectHTTPClient(
        resolver: resolver, policy: Self.local, attemptTimeout: .seconds(2),
        configuration: try configuration(trusting: authority))
      let url = origin.url("/", host: "two.example.com")
      let first = Task { try await send(url, by: client, timeout: .hours(1)) }
      await mute.waitForConnections(1)
      provider.records = RecordTable { $0.add("two.example.com", "127.0.0.2", "127.0.0.1") }
      try resolver.invalidate("two.example.com")
      #expect(try await send(url, by: client, timeout: .seconds(30)).response.status == .ok)
      first.cancel()
      _ = await first.result
      await mute.stop()
    }
    await provider.stop()
  }

  @Test func `what a request has given up the next one begins anew`() async throws {
    let authority = try TestCertificateAuthority()
    try await withOrigin(.init(identity: try authority.issue(names: ["a.test"]))) { origin in
      let client = DirectHTTPClient(
        resolver: try resolver(), policy: Self.local, configuration: try configuration(trusting: authority))
      origin.isMute = true
      await #expect(throws: HTTPClientError.deadlineExceeded) {
        try await send(origin.url("/", host: "a.test"), by: client, timeout: .milliseconds(300))
      }
      origin.isMute = false
      let response = try await send(origin.url("/", host: "a.test"), by: client, timeout: .seconds(30)).response
      #expect(response.status == .ok)
    }
  }

  @Test func `a connection that stands is used, whatever time is left for another one`() async throws {
    try await withOrigin { origin in
      let client = DirectHTTPClient(
        resolver: try resolver(["two.test": ["127.0.0.1", "127.0.0.2"]]), policy: Self.local,
        attemptTimeout: .seconds(10))
      // Half of ten seconds is less than an attempt may take.
      for seconds in [3600, 10, 3600, 16] as [Int64] {
        _ = try await send(origin.url("/", host: "two.test"), by: client, timeout: .seconds(seconds))
      }
      #expect(origin.requests.count == 4 && origin.connectionCount == 1)
    }
  }

  @Test func `a client with a proxy sends nothing, since addresses are judged and not proxies`() async throws {
    try await withOrigin { origin in
      var configuration = HTTPClient.Configuration()
      configuration.proxy = .server(host: "127.0.0.1", port: origin.port)
      let client = DirectHTTPClient(resolver: try resolver(), policy: Self.local, configuration: configuration)
      let error = await #expect(throws: DirectDNSError.self) { try await send("http://a.test/", by: client) }
      #expect(error?.code == .invalidConfiguration && origin.connectionCount == 0)
    }
  }

  @Test(arguments: [0, -1] as [Int64])
  func `a client that gives connecting no time sends nothing, and says so`(_ nanoseconds: Int64) async throws {
    try await withOrigin { origin in
      let client = DirectHTTPClient(
        resolver: try resolver(), policy: Self.local, attemptTimeout: .nanoseconds(nanoseconds))
      let error = await #expect(throws: DirectDNSError.self) {
        try await send(origin.url("/", host: "a.test"), by: client)
      }
      #expect(error?.code == .invalidConfiguration && error?.message.contains("attemptTimeout") == true)
      #expect(origin.connectionCount == 0)
    }
  }

  // MARK: What is asked for

  @Test(arguments: [
    ("/ä|b", "/%C3%A4%7Cb"), ("/a|b%20c", "/a%7Cb%20c"), ("/%zz?q={1}|2", "/%25zz?q=%7B1%7D%7C2"), ("/%41", "/%41"),
  ])
  func `the path is the URL's, encoded once`(_ path: String, _ target: String) async throws {
    try await withOrigin(answering: { request in
      request.path == "/go" ? OriginResponse(.found, fields: [.location: path]) : OriginResponse()
    }) { origin in
      let client = DirectHTTPClient(resolver: try resolver(), policy: Self.local)
      _ = try await send(origin.url(path, host: "a.test"), by: client)
      _ = try await send(origin.url("/go", host: "a.test"), by: client)
      #expect(origin.requests.map(\.target) == [target, "/go", target])
    }
  }

  @Test func `a name with a final dot is asked for without it, and told with it`() async throws {
    let authority = try TestCertificateAuthority()
    try await withOrigin(.init(identity: try authority.issue(names: ["a.test"]))) { origin in
      let client = DirectHTTPClient(
        resolver: try resolver(), policy: Self.local, configuration: try configuration(trusting: authority))
      for host in ["a.test.", "a.test"] {
        let url = origin.url("/x", host: host)
        let response = try await send(url, by: client).response
        #expect(response.status == .ok && response.url?.absoluteString == url)
        #expect(origin.requests.last?.host == "\(host):\(origin.port)")
        #expect(origin.requests.last?.serverName == "a.test")
      }
    }
  }

  // MARK: What origins get

  @Test(arguments: ["a.test", "127.0.0.1"])
  func `an origin gets the URL's user info, and neither a proxy's credentials nor our bookkeeping`(
    _ host: String
  ) async throws {
    try await withOrigin { origin in
      let client = DirectHTTPClient(resolver: try resolver(), policy: Self.local)
      for (given, expected) in [(nil, "Basic dTpw"), ("Bearer own", "Bearer own")] as [(String?, String)] {
        var request = HTTPClientRequest(url: "http://u:p@\(host):\(origin.port)/")
        request.headers.add(name: "proxy-authorization", value: "Basic secret")
        request.headers.add(name: "OriginalURL", value: "http://b.test/")
        request.headers.add(name: "X-Own", value: "kept")
        if let given { request.headers.add(name: "Authorization", value: given) }
        _ = try await client.execute(request, timeout: .minutes(1))
        let seen = try #require(origin.requests.last)
        #expect(seen.field("Authorization") == expected && seen.field("X-Own") == "kept")
        #expect(seen.field("Proxy-Authorization") == nil && seen.field("originalUrl") == nil)
      }
    }
  }

  @Test(arguments: [(["b.test"], DirectDNSError.Code.addressForbidden), (["a.test", "c.test"], .invalidRequest)])
  func `a Host that is denied, or one of several, is not sent`(
    _ hosts: [String], _ code: DirectDNSError.Code
  ) async throws {
    try await withOrigin { origin in
      let client = DirectHTTPClient(
        resolver: try resolver(), policy: AddressPolicy(.any, deniedSuffixes: [try HostName("b.test")]))
      var request = HTTPClientRequest(url: origin.url("/", host: "a.test"))
      for host in hosts { request.headers.add(name: "Host", value: host) }
      let sent = request
      let error = await #expect(throws: DirectDNSError.self) {
        _ = try await client.execute(sent, timeout: .minutes(1))
      }
      #expect(error?.code == code && origin.requests.isEmpty)
    }
  }

  // MARK: What comes back

  @Test func `an address of the answer stands for the name, though it must not be connected to`() async throws {
    try await withOrigin(answering: { request in
      let port = request.host?.split(separator: ":").last ?? ""
      return request.path == "/go"
        ? OriginResponse(.found, fields: [.location: "http://127.0.0.9:\(port)/there"]) : OriginResponse()
    }) { origin in
      let only = try #require(IPNetwork("127.0.0.1/32"))
      let client = DirectHTTPClient(
        resolver: try resolver(["two.test": ["127.0.0.9", "127.0.0.1"]]),
        policy: AddressPolicy(.publicOnly, allowedNetworks: [only]))
      let response = try await send(origin.url("/go", host: "two.test"), by: client).response
      #expect(response.url?.absoluteString == origin.url("/there", host: "two.test"))
    }
  }

  @Test func `the history has every hop, with the name where the server has written its address`() async throws {
    try await withOrigin(answering: { request in
      let port = request.host?.split(separator: ":").last ?? ""
      return switch request.path {
      case "/first": OriginResponse(.found, fields: [.location: "/second"])
      case "/second": OriginResponse(.found, fields: [.location: "http://127.0.0.1:\(port)/third"])
      default: OriginResponse()
      }
    }) { origin in
      let client = DirectHTTPClient(resolver: try resolver(), policy: Self.local)
      let urls = ["/first", "/second", "/third"].map { origin.url($0, host: "a.test") }
      let history = try await send(urls[0], by: client).response.history
      #expect(history.map(\.request.url) == urls && history.map { $0.responseHead.status.code } == [302, 302, 200])
      #expect(history.compactMap { $0.responseHead.headers.first(name: "location") } == Array(urls.dropFirst()))
    }
  }

  @Test func `a password in the URL goes along within its origin, and stands in no field of a response`() async throws {
    try await withOrigin(answering: { request in
      OriginResponse(request.path == "/go" ? .found : .created, fields: [.location: "/there"])
    }) { origin in
      let client = DirectHTTPClient(resolver: try resolver(), policy: Self.local)
      let history = try await send("http://u:p@a.test:\(origin.port)/go", by: client).response.history
      let there = origin.url("/there", host: "a.test")
      #expect(history.compactMap { $0.responseHead.headers.first(name: "location") } == [there, there])
      #expect(origin.requests.map { $0.field("Authorization") } == ["Basic dTpw", "Basic dTpw"])
    }
  }

  @Test(arguments: [(HTTPResponse.Status.created, "/x"), (.found, "/x#part")])
  func `a fragment is inherited by redirects alone`(_ status: HTTPResponse.Status, _ location: String) async throws {
    try await withOrigin(answering: { _ in OriginResponse(status, fields: [.location: "/x"]) }) { origin in
      let client = DirectHTTPClient(resolver: try resolver(), policy: Self.local, redirects: nil)
      let response = try await send(origin.url("/#part", host: "a.test"), by: client).response
      let restored = response.headers.first(name: "location")
      #expect(restored?.hasSuffix(location) == true)
    }
  }

  @Test(arguments: [
    (ECONNREFUSED, true), (EHOSTUNREACH, true), (ENETUNREACH, true), (EADDRNOTAVAIL, false), (EMFILE, false),
    (ECONNRESET, false),
  ])
  func `an address is to blame for what it does, not for what this machine lacks`(_ code: CInt, _ isBlamed: Bool) {
    #expect(IOError(errnoCode: code, reason: "connect(descriptor:addr:size:)").isOfAddress == isBlamed)
  }

  /// The kernel ends a connection so on which what was sent is not acknowledged: it may have arrived.
  @Test(
    arguments: [EHOSTUNREACH, ENETUNREACH, ENETDOWN],
    [
      ("finishing a non-blocking connect failed", true), ("read(descriptor:pointer:size:)", false),
      ("connection reset (error set)", false),
    ])
  func `an address that is not reached any more is to blame before there is a connection, and not after`(
    _ code: CInt, _ said: (String, Bool)
  ) {
    #expect(IOError(errnoCode: code, reason: said.0).isOfAddress == said.1)
  }

  @Test func `redirects within an origin share one connection`() async throws {
    try await withOrigin(answering: { request in
      request.path == "/go"
        ? OriginResponse(.found, fields: [.location: "/there"], body: "over there") : OriginResponse()
    }) { origin in
      let client = DirectHTTPClient(resolver: try resolver(), policy: Self.local)
      for _ in 0..<10 { _ = try await send(origin.url("/go", host: "a.test"), by: client) }
      #expect(origin.requests.count == 20 && origin.connectionCount == 1)
    }
  }

  @Test func `a redirect whose body never ends is followed all the same`() async throws {
    let gate = Gate()
    try await withOrigin(answering: { request in
      guard request.path == "/go" else { return OriginResponse() }
      return OriginResponse(.found, fields: [.location: "/there"]) { body in
        try await body.write("over")
        try await gate.pass()
      }
    }) { origin in
      let client = DirectHTTPClient(resolver: try resolver(), policy: Self.local)
      #expect(try await send(origin.url("/go", host: "a.test"), by: client).response.status == .ok)
      gate.open()
    }
  }
}
