// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct ResolverRecordsTests {
  /// A transport of one zone in JSON: the reply of each server, by its host.
  private final class Servers: HTTPTransport {
    let replies: @Sendable (String) -> Result<String, HTTPTransportError>
    let asked = Locked<[String]>([])
    let timeouts = Locked<[Duration]>([])

    init(_ replies: @escaping @Sendable (String) -> Result<String, HTTPTransportError>) { self.replies = replies }

    func send(
      _ message: HTTPMessage, to endpoint: HTTPEndpoint, timeout: Duration
    ) async throws(HTTPTransportError) -> HTTPReply {
      let host = endpoint.origin.host.description
      asked.withLock { $0.append("\(host)?" + (message.url.split(separator: "?").last ?? "")) }
      timeouts.withLock { $0.append(timeout) }
      return HTTPReply(try replies(host).get())
    }

    func networkDidChange() {}
    func shutdown() {}
  }

  private static let mail =
    #"{"Status":0,"AD":true,"Question":[{"name":"a.example","type":15}],"Answer":[{"name":"a.example","type":15,"TTL":60,"data":"10 mail.example."}]}"#
  private static let name = DNSName(Sample.name("a.example"))

  /// A transport whose queries fail when the gate opens, unless they are cancelled before.
  private final class FailingLate: HTTPTransport {
    let gate = Gate()
    let ended = Watched(0)

    func send(
      _ message: HTTPMessage, to endpoint: HTTPEndpoint, timeout: Duration
    ) async throws(HTTPTransportError) -> HTTPReply {
      let isCancelled = (try? await gate.pass()) == nil
      ended.change { $0 += 1 }
      throw isCancelled ? .cancelled : .connect("refused")
    }

    func networkDidChange() {}
    func shutdown() { gate.open() }
  }

  private func resolver(
    _ servers: any HTTPTransport, _ names: [String] = ["one", "two"], clock: ManualClock = ManualClock(),
    configure: (inout ResolverConfiguration) -> Void = { _ in }
  ) throws -> DirectResolver {
    var configuration = ResolverConfiguration(
      providers: names.map {
        ProviderConfiguration(
          provider: JSONProvider(name: $0, url: Sample.url("https://\($0).test/r")),
          bootstrap: Sample.addresses("192.0.2.53"))
      })
    configure(&configuration)
    return try DirectResolver(configuration, transport: servers, clock: clock, system: ScriptedSystem(clock: clock))
  }

  @Test func `a comparison asks anew each time, whatever the format, and shows what was said`() async throws {
    let texts = Locked(["192.0.2.1,1", "192.0.2.2,1", ""])
    let servers = Servers { _ in .success(texts.withLock { $0.removeFirst() }) }
    let resolver = try resolver(servers) {
      $0.providers = [
        ProviderConfiguration(
          provider: try! DNSPodProvider(name: "pod", url: Sample.url("https://pod.test/d")),
          bootstrap: Sample.addresses("192.0.2.53"))
      ]
    }
    for address in ["192.0.2.1", "192.0.2.2"] {
      let found = try await resolver.askProviders(for: Sample.name("a.example"), .ipv4, timeout: .seconds(3))
      #expect(found.records.map(\.description) == ["a.example. 1 IN A \(address)"] && !found.isNameMissing)
    }
    let none = try await resolver.askProviders(for: Sample.name("a.example"), .ipv4, timeout: .seconds(3))
    #expect(none.records.isEmpty && none.isAuthenticated == nil)
    // One that fails is named with its reason, and not as one that could not be asked.
    texts.withLock { $0.append("no reply of its format") }
    let error = await #expect(throws: DirectDNSError.self) {
      try await resolver.askProviders(for: Sample.name("a.example"), .ipv4, timeout: .seconds(3))
    }
    #expect(error?.code == .upstreamFailed && error?.attempts.map(\.server) == ["pod"])
  }

  @Test func `the first server that answers is it, and is asked each time`() async throws {
    let servers = Servers { _ in .success(Self.mail) }
    let resolver = try resolver(servers)
    for _ in 0..<2 {
      let found = try await resolver.records(of: "A.Example.", type: .mx)
      #expect(found.records.map(\.description) == ["a.example. 60 IN MX 10 mail.example."])
      #expect(found.source == .provider("one") && found.isAuthenticated == true && found.freshness == .fresh)
    }
    #expect(servers.asked.withLock(\.self) == Array(repeating: "one.test?name=a.example&type=15", count: 2))
    #expect(servers.timeouts.withLock { $0[0] } == .milliseconds(4900))
  }

  @Test(arguments: [HTTPTransportError.cancelled, .shutDown])
  func `a transport that gives up is a provider that fails, for who has not left`(_ error: HTTPTransportError)
    async throws
  {
    let resolver = try resolver(Servers { _ in .failure(error) })
    let failure = await #expect(throws: DirectDNSError.self) { try await resolver.records(of: Self.name, type: .mx) }
    #expect(failure?.code == .upstreamFailed && failure?.attempts.count == 2)
  }

  @Test func `the next one is asked when one fails, and health has it`() async throws {
    let servers = Servers { $0 == "one.test" ? .failure(.connect("refused")) : .success(Self.mail) }
    let events = Locked<[String]>([])
    let clock = ManualClock()
    let resolver = try resolver(servers, clock: clock) {
      $0.observer = { event in
        guard case .recordQuery(let query) = event else { return }
        events.withLock {
          $0.append("\(query.provider) \(query.question.shown): \(query.outcome) \(query.isAnswer)")
        }
      }
    }
    for _ in 0..<3 {
      #expect(try await resolver.records(of: Self.name, type: .mx).source == .provider("two"))
      clock.advance(by: .seconds(1))
    }
    // Three failures in a row have opened the first one's breaker: it is asked last.
    #expect(resolver.providerStatus.map(\.isBreakerOpen) == [true, false])
    _ = try await resolver.records(of: Self.name, type: .mx)
    #expect(servers.asked.withLock { $0.count } == 7)
    #expect(
      events.withLock { $0.prefix(2) } == [
        "one a.example MX: no connection: refused false", "two a.example MX: 1 record true",
      ])
  }

  @Test func `when all have failed the error names each`() async throws {
    let resolver = try resolver(Servers { $0 == "one.test" ? .failure(.timedOut) : .success(#"{"Status":2}"#) })
    let error = await #expect(throws: DirectDNSError.self) { try await resolver.records(of: Self.name, type: .mx) }
    #expect(error?.code == .upstreamFailed && error?.attempts.map(\.server) == ["one", "two"])
    let late = try self.resolver(Servers { _ in .failure(.timedOut) })
    let second = await #expect(throws: DirectDNSError.self) { try await late.records(of: Self.name, type: .mx) }
    #expect(second?.code == .timedOut)
  }

  @Test(arguments: [(3, DirectDNSError.Code.nameNotFound), (0, .noRecord)])
  func `a negative answer ends it`(_ status: Int, _ code: DirectDNSError.Code) async throws {
    let reply = #"{"Status":\#(status),"Question":[{"name":"a.example","type":15}]}"#
    let servers = Servers { _ in .success(reply) }
    let resolver = try resolver(servers)
    let error = await #expect(throws: DirectDNSError.self) { try await resolver.records(of: Self.name, type: .mx) }
    #expect(error?.code == code && servers.asked.withLock { $0.count } == 1)
  }

  @Test func `addresses come from the cache`() async throws {
    let fixture = try ResolverFixture()
    try await fixture.learn("192.0.2.7", ttl: 100)
    let found = try await fixture.resolver.records(of: DNSName(ResolverFixture.host), type: .a)
    #expect(found.records.map(\.description) == ["www.example.net. 100 IN A 192.0.2.7"])
    #expect(fixture.transport.count == 1)
  }

  @Test func `that a name has no address of a type is that it has no such record`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer { _ in .answer(.negative(.noAddress)) }
    let error = await #expect(throws: DirectDNSError.self) {
      try await fixture.resolver.records(of: DNSName(ResolverFixture.host), type: .aaaa)
    }
    #expect(error?.code == .noRecord && error?.message == "www.example.net exists and has no AAAA record.")
  }

  @Test func `a format that carries addresses alone is not asked, and the error says so`() async throws {
    let servers = Servers { _ in .success(Self.mail) }
    let dnspod = try ProviderConfiguration("dnspod+https://192.0.2.1/d")
    let both = try resolver(servers, ["one"]) { $0.providers.insert(dnspod, at: 0) }
    #expect(try await both.records(of: Self.name, type: .mx).source == .provider("one"))
    let alone = try resolver(servers) { $0.providers = [dnspod] }
    let error = await #expect(throws: DirectDNSError.self) { try await alone.records(of: Self.name, type: .mx) }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.message.contains("192.0.2.1 carries addresses alone") == true)
  }

  @Test(arguments: [
    ("printer", DNSRecordType.mx, DirectDNSError.Code.refused), ("nas.local", .txt, .refused),
    (#"a\.b.internal"#, .txt, .refused), ("nas", .ns, .refused), ("corp", .soa, .refused),
    ("_x._tcp.site.example", .srv, .refused), ("a.invalid", .mx, .nameNotFound),
    ("a.onion", .mx, .refused), ("localhost", .mx, .noRecord), ("pinned.example", .mx, .noRecord),
    ("*.invalid", .mx, .nameNotFound), ("*.onion", .mx, .refused), ("*.local", .txt, .refused),
    ("a.example", .opt, .invalidRequest), ("1.0.0.10.in-addr.arpa", .ptr, .refused),
  ])
  func `names of this network and names of none are asked of nobody`(
    _ name: String, _ type: DNSRecordType, _ code: DirectDNSError.Code
  ) async throws {
    let servers = Servers { _ in .success(Self.mail) }
    let resolver = try resolver(servers) {
      $0.localZones = LocalZones(
        pins: [Sample.name("pinned.example"): Sample.addresses("192.0.2.1")], suffixes: [Sample.name("site.example")])
    }
    let error = await #expect(throws: DirectDNSError.self) { try await resolver.records(of: name, type: type) }
    #expect(error?.code == code && servers.asked.withLock(\.isEmpty), "\(error.map { "\($0)" } ?? "")")
    let shown = try DNSName(asking: name).shown
    if code != .invalidRequest { #expect(error?.message.hasPrefix("\(shown) ") == true) }
  }

  @Test(arguments: [true, false])
  func `whoever waits for records of a name that is looked up elsewhere meanwhile gets what he would if he came now`(
    _ isPinned: Bool
  ) async throws {
    let servers = FailingLate()
    let resolver = try resolver(servers)
    let name = Self.name
    let lookup = Task { () -> DirectDNSError? in
      do throws(DirectDNSError) { _ = try await resolver.records(of: name, type: .mx) } catch { return error }
      return nil
    }
    await servers.gate.waitForArrivals()
    var configuration = resolver.configuration
    if isPinned {
      configuration.localZones.pins = [Sample.name("a.example"): Sample.addresses("192.0.2.9")]
    } else {
      configuration.localZones.suffixes = [Sample.name("a.example")]
    }
    try resolver.update(configuration)
    servers.gate.open()
    let error = await lookup.value
    #expect(error?.code == (isPinned ? .noRecord : .refused), "\(error.map { "\($0)" } ?? "")")
    await servers.ended.wait { $0 >= 1 }
    #expect(servers.gate.arrivalCount == 1)
  }

  @Test(arguments: [(".", DNSRecordType.soa), ("*.com", .mx)])
  func `what belongs to zones is asked of the top too`(_ name: String, _ type: DNSRecordType) async throws {
    let reply = #"{"Status":0,"Question":[{"name":"\#(name)","type":\#(type.rawValue)}]}"#
    let servers = Servers { _ in .success(reply) }
    let resolver = try resolver(servers)
    let error = await #expect(throws: DirectDNSError.self) { try await resolver.records(of: name, type: type) }
    #expect(error?.code == .noRecord && servers.asked.withLock { $0.count } == 1)
  }

  @Test func `nothing is asked after the end`() async throws {
    let servers = Servers { _ in .success(Self.mail) }
    let resolver = try resolver(servers)
    resolver.shutdown()
    let error = await #expect(throws: DirectDNSError.self) { try await resolver.records(of: Self.name, type: .mx) }
    #expect(error?.code == .shutDown && servers.asked.withLock(\.isEmpty))
  }
}
