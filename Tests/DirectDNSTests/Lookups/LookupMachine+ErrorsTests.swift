// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// What errors say, and what they never say.
@Suite(.timeLimit(.minutes(1)))
struct ResolverErrorsTests {
  private static let host = ResolverFixture.host

  // MARK: What they say

  @Test func `the final error names the host, and every provider with its reason`() async throws {
    let fixture = try ResolverFixture("one", "two", "three") { $0.hedges = false }
    fixture.transport.reply { sent in
      switch sent.provider {
      case "one": .code(.serverFailure)
      case "two": .error(.tls("certificate expired"))
      default: .status(500)
      }
    }
    fixture.system.answer { _ in .error(.connectionLost("unplugged")) }
    let error = try #require(await fixture.failure())
    #expect(error.code == .upstreamFailed)
    #expect(error.message.contains("www.example.net"))
    #expect(error.attempts.map(\.server) == ["one", "two", "three", "system"])
    for part in [
      "one: answered SERVFAIL", "two: TLS: certificate expired", "three: HTTP 500",
      "system: connection lost: unplugged",
    ] {
      #expect(error.description.contains(part), "\(part)")
    }
    // Which says what to do.
    #expect(error.message.contains("Check"))
  }

  @Test(
    arguments: [
      (
        Script.error(.tls("self-signed certificate")), Script.error(.tls("expired")),
        "authorities are right, the connection is being intercepted"
      ),
      (.error(.tls("certificate has expired")), .error(.tls("certificate has expired")), "have it renewed"),
      (.error(.tls("certificate is not yet valid")), .error(.tls("certificate is not yet valid")), "set the clock"),
      (.error(.tls("no subject name matches")), .error(.tls("no subject name matches")), "its bootstrap addresses"),
      (.error(.tls("self-signed")), .error(.tls("unable to get local issuer")), "trust that (configuration file: ca"),
      (.error(.tls("certificate has expired")), .error(.tls("self-signed")), "authorities are right, the connection"),
      (.error(.tls("wrong version number")), .error(.tls("wrong version number")), "speaks no TLS"),
      (.status(500), .status(503), "say that they fail"),
      (.status(500), .status(403), "check their URLs and credentials"),
      (.error(.tlsSetup("no such file")), .error(.tlsSetup("no such file")), "Check the files of authorities"),
      (.error(.tlsSetup("no such file")), .down, "Check this machine's network"),
      (.status(403), .code(.refused), "check their URLs and credentials"),
      (.error(.malformedResponse("no HTTP")), .status(403), "check their URLs and credentials"),
      (.error(.bodyTooLarge), .error(.fieldsTooLarge), "The providers can be reached"),
      (.code(.serverFailure), .code(.serverFailure), "the fault is with this name's own DNS servers"),
      (.error(.tls("expired")), .down, "Check this machine's network"),
      (.status(403), .silence, "Check this machine's network"),
      (.down, .error(.timedOut), "Check this machine's network"),
    ] as [(Script, Script, String)])
  func `the advice fits what is wrong with all of them`(_ one: Script, _ two: Script, _ advice: String) async throws {
    let fixture = try ResolverFixture("one", "two") {
      $0.hedges = false
      $0.usesSystemDNS = false
    }
    fixture.transport.reply { $0.provider == "one" ? one : two }
    let error = Task { await fixture.failure() }
    // Whoever is silent is so for longer than anyone waits.
    if two.delay > .zero {
      await fixture.transport.waitForSent(2)
      await fixture.clock.waitForSleepers()
      fixture.clock.advance(by: .seconds(10))
    }
    let message = try #require(await error.value).message
    #expect(message.contains(advice), "\(message)")
  }

  @Test func `a provider that failed for both families in the same way is named once`() async throws {
    let fixture = try ResolverFixture {
      $0.families = .any
      $0.usesSystemDNS = false
    }
    let error = try #require(await fixture.failure())
    #expect(error.attempts.map(\.description) == ["one: no connection: refused"])
    fixture.clock.advance(by: .seconds(1))
    fixture.transport.answer { $0.family == .ipv4 ? .down : .code(.serverFailure) }
    let second = try #require(await fixture.failure())
    #expect(Set(second.attempts.map(\.reason)) == ["no connection: refused", "answered SERVFAIL"])
  }

  @Test func `an error that was remembered says the same as the first one`() async throws {
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    fixture.transport.answer { _ in .code(.refused) }
    let first = try #require(await fixture.failure())
    let second = try #require(await fixture.failure())
    #expect(first.description == second.description)
    #expect(fixture.transport.count == 1)
  }

  @Test func `time that ran out has a code of its own`() async throws {
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    fixture.transport.answer { _ in .error(.timedOut) }
    let error = try #require(await fixture.failure())
    #expect(error.code == .timedOut)
    #expect(error.message.contains("in time"))
    #expect(error.attempts.map(\.server) == ["one"])
  }

  @Test(arguments: [(Duration.milliseconds(999), true), (.seconds(1), false)])
  func `where there was hardly any time, more is advised, and nothing about the network`(
    _ timeout: Duration, _ isShort: Bool
  ) async throws {
    let fixture = try ResolverFixture { $0.usesSystemDNS = false }
    fixture.transport.answer { _ in .error(.timedOut) }
    let error = try #require(await fixture.failure(options: LookupOptions(timeout: timeout)))
    #expect(error.code == .timedOut && error.message.contains("Allow more time") == isShort)
    #expect(error.message.contains("network") != isShort, "\(error.message)")
  }

  @Test func `a negative answer says for how long it is known, and what to do`() async throws {
    let fixture = try ResolverFixture()
    fixture.transport.answer { _ in .answer(.negative(.nameNotFound, ttl: 60)) }
    _ = await fixture.failure()
    fixture.clock.advance(by: .seconds(20))
    let missing = try #require(await fixture.failure())
    #expect(missing.message.contains("www.example.net does not exist"))
    #expect(missing.message.contains("40 s"))
    #expect(missing.message.contains("spelling"))
  }

  @Test(arguments: [(AddressFamilies.ipv4, "ipv4"), (.ipv6, "ipv6")])
  func `no address of a family says which family`(_ families: AddressFamilies, _ text: String) async throws {
    let fixture = try ResolverFixture { $0.families = families }
    fixture.transport.answer { _ in .answer(.negative(.noAddress, ttl: 60)) }
    let error = try #require(await fixture.failure())
    #expect(error.code == .noAddress)
    #expect(error.message.contains("\(text) address"))
  }

  @Test(arguments: [true, false], [ExpiredUse.allowed, .refused])
  func `it says whether the system was asked too, and why no expired answer serves`(
    _ usesSystem: Bool, _ expired: ExpiredUse
  ) async throws {
    let fixture = try ResolverFixture { $0.usesSystemDNS = usesSystem }
    fixture.system.answer { _ in .error(.connectionLost("unplugged")) }
    let error = try #require(await fixture.failure(options: LookupOptions(expired: expired)))
    let who = usesSystem ? "neither the providers nor the system's DNS answered" : ": no provider answered"
    let why = expired == .refused ? "expired answers are refused" : "no expired answer is known"
    #expect(error.message.contains("\(who), and \(why)."), "\(error.message)")
  }

  @Test(arguments: [
    ("printer", true, "the system's DNS, which alone is asked for it, did not answer", "Check this machine's own DNS."),
    (
      "a.internal", true, "the system's DNS, which alone is asked for it, did not answer",
      "Check this machine's own DNS."
    ),
    ("www.example.net", false, "the system's DNS did not answer", "Check this machine's own DNS, or name providers."),
  ])
  func `where no provider is asked, it says nothing of providers that failed`(
    _ name: String, _ hasProviders: Bool, _ who: String, _ advice: String
  ) async throws {
    let fixture = try ResolverFixture { if !hasProviders { $0.providers = [] } }
    fixture.system.answer { _ in .error(.connectionLost("unplugged")) }
    let error = try #require(
      await #expect(throws: DirectDNSError.self) { try await fixture.resolver.resolve(Sample.name(name)) })
    #expect(error.message == "\(name) could not be looked up: \(who), and no expired answer is known. \(advice)")
  }

  @Test(arguments: ["printer", "db.internal"], [Answer.Negative.nameNotFound, .noAddress])
  func `of a name of this network it says that it is the system's DNS that does not know it`(
    _ name: String, _ negative: Answer.Negative
  ) async throws {
    let fixture = try ResolverFixture { $0.families = .any }
    fixture.system.answer { _ in .answer(.negative(negative, ttl: 60)) }
    // The first time it is asked for, the second time it is known.
    for _ in 0..<2 {
      let error = await #expect(throws: DirectDNSError.self) { try await fixture.resolver.resolve(Sample.name(name)) }
      let message = try #require(error?.message)
      #expect(message.contains(", says the system's DNS, which alone is asked for it. Check its "), "\(message)")
    }
    fixture.transport.answer { _ in .answer(.negative(negative, ttl: 60)) }
    let other = try #require(await fixture.failure())
    #expect(!other.message.contains("system"), "\(other)")
  }

  @Test(
    arguments: [
      (["doh+https://192.0.2.1/dns-query", "google"], "exists and has no address. Check its DNS records."),
      (["dnspod+https://192.0.2.1/d"], "has no address, or does not exist. Check its spelling and its DNS records."),
      (["google", "emas+https://192.0.2.1/1001/d"], "has no address, or does not exist. Check its spelling"),
    ] as [([String], String)])
  func `that a name exists is said only where every provider's format could tell`(
    _ providers: [String], _ words: String
  ) throws {
    let configuration = ResolverConfiguration(providers: try providers.map { try ProviderConfiguration($0) })
    let speaker = configuration.negativeSpeaker(for: .providers)
    #expect(DirectDNSError(.noAddress, of: Self.host, .any, by: speaker).message.hasPrefix("www.example.net \(words)"))
    let missing = DirectDNSError(.nameNotFound, of: Self.host, .any, by: speaker)
    #expect(missing.message == "www.example.net does not exist. Check its spelling.")
  }

  @Test func `a name is missing only if each family says so`() async throws {
    for (other, code) in [
      (Answer.Negative.nameNotFound, DirectDNSError.Code.nameNotFound), (.noAddress, .noAddress),
    ] {
      let fixture = try ResolverFixture { $0.families = .any }
      fixture.transport.answer {
        .answer(.negative($0.family == .ipv4 ? .nameNotFound : other, ttl: 60))
      }
      #expect(await fixture.failure()?.code == code)
    }
  }

  // MARK: What they never say

  private static let secrets = [
    "SIGNING-SECRET", "DNSPOD-TOKEN", "0123456789abcdef0123456789abcdef", "QUERY-KEY",
  ]

  private static func providers() throws -> [ProviderConfiguration] {
    let addresses = Sample.addresses("192.0.2.53")
    let url = "json+https://json.example/resolve"
    let signed = ProviderCredentials(account: "acct", keyID: "key-id", secret: "SIGNING-SECRET")
    let token = ProviderCredentials(token: "DNSPOD-TOKEN")
    let emas = ProviderCredentials(account: "1234", secret: "0123456789abcdef0123456789abcdef")
    return try [
      ProviderConfiguration("alidns", credentials: signed),
      ProviderConfiguration("dnspod", credentials: token),
      ProviderConfiguration("emas+https://emas.example/1234/sign_d", credentials: emas),
      ProviderConfiguration("emas+https://emas.example/v2/d", credentials: emas),
      ProviderConfiguration(url, credentials: signed),
      ProviderConfiguration("doh+https://doh.example/dns-query?key=QUERY-KEY"),
    ].map { provider in
      var provider = provider
      provider.bootstrap = addresses
      return provider
    }
  }

  /// Fails each request as it was told, and keeps what was sent.
  private final class Refusal: HTTPTransport {
    let urls = Locked<[String]>([])
    let reply: Result<HTTPReply, HTTPTransportError>

    init(_ reply: Result<HTTPReply, HTTPTransportError>) { self.reply = reply }

    func send(
      _ message: HTTPMessage, to server: HTTPEndpoint, timeout: Duration
    ) async throws(HTTPTransportError) -> HTTPReply {
      urls.withLock { $0.append(message.url) }
      return try reply.get()
    }
    func networkDidChange() {}
    func shutdown() {}
  }

  private static let json: HTTPFields = [.contentType: "application/json"]
  private static let failures: [Result<HTTPReply, HTTPTransportError>] = [
    .failure(.connect("refused")), .failure(.tls("expired")), .failure(.timedOut),
    .success(HTTPReply(status: .forbidden)),
    .success(HTTPReply(status: .tooManyRequests, fields: [.retryAfter: "60"])),
    .success(HTTPReply(status: .internalServerError, body: Array("SIGNING-SECRET".utf8))),
    .success(HTTPReply(status: .ok, fields: [.contentType: "text/html"], body: Array("<html>".utf8))),
    .success(HTTPReply(status: .ok, fields: json, body: Array("{\"code\":\"InvalidSignature\"}".utf8))),
    .success(HTTPReply(status: .ok, fields: json, body: Array("{\"Status\":2}".utf8))),
  ]

  private static func texts(_ value: Any) -> String {
    var dumped = ""
    dump(value, to: &dumped)
    return [String(describing: value), String(reflecting: value), "\(value)", dumped].joined(separator: "\n")
  }

  @Test(arguments: failures.indices)
  func `secrets stand in no error, attempt or event, however a provider fails`(_ index: Int) async throws {
    let transport = Refusal(Self.failures[index])
    let events = Locked<[ResolverEvent]>([])
    var configuration = ResolverConfiguration(providers: try Self.providers())
    configuration.observer = { event in events.withLock { $0.append(event) } }
    configuration.usesSystemDNS = false
    configuration.hedges = false
    configuration.families = .ipv4
    let clock = ManualClock()
    let resolver = try DirectResolver(
      configuration, transport: transport, clock: clock, system: ScriptedSystem(clock: clock))
    let error = try #require(
      await #expect(throws: DirectDNSError.self) { try await resolver.resolve(Self.host) })
    #expect(error.attempts.isEmpty == false)
    var shown = [Self.texts(error), Self.texts(events.withLock { $0 })]
    shown += error.attempts.map(Self.texts)
    if let underlying = error.underlying { shown.append(Self.texts(underlying)) }
    // What makes a signed request valid is as secret as the key, for as long as it holds.
    let signatures = transport.urls.withLock { $0 }.flatMap { url in
      url.split(whereSeparator: { "?&".contains($0) }).filter { part in
        ["key=", "s=", "sign=", "token="].contains { part.hasPrefix($0) }
      }.compactMap { $0.split(separator: "=").last.map(String.init) }
    }
    #expect(signatures.isEmpty == false)
    for secret in Self.secrets + signatures {
      #expect(!shown.contains { $0.contains(secret) }, "\(secret)")
    }
  }

  @Test func `secrets stand in no description or dump of a provider, its configuration or the resolver's`()
    throws
  {
    var configuration = ResolverConfiguration(providers: try Self.providers())
    configuration.usesSystemDNS = false
    let shown = [
      Self.texts(configuration), Self.texts(configuration.providers),
      configuration.providers.map { Self.texts($0.provider) }.joined(),
    ]
    for secret in Self.secrets { #expect(!shown.contains { $0.contains(secret) }, "\(secret)") }
  }

  @Test func `a request is never printed with its URL or fields`() throws {
    for provider in try Self.providers() {
      let message = provider.provider.request(for: AddressQuestion(Self.host, .ipv4), at: 1_700_000_000)
      let shown = Self.texts(message)
      #expect(!shown.contains("www.example.net"))
      for secret in Self.secrets { #expect(!shown.contains(secret)) }
    }
  }

  @Test(arguments: [
    "json+ftp://dns.example/?key=QUERY-KEY", "jason+https://dns.example/?key=QUERY-KEY",
    "json+http://dns.example/resolve?key=QUERY-KEY",
    "dnspod+https://dns.example/d?id=1&alg=des&key=QUERY-KEY",
    "emas+https://dns.example/x/y/z?key=QUERY-KEY", "https://dns.example/?key=QUERY-KEY",
  ])
  func `an error about a provider's URL does not show its query`(_ text: String) {
    let error = #expect(throws: DirectDNSError.self) { try ProviderConfiguration(text) }
    #expect(error?.code == .invalidConfiguration)
    #expect(error.map { !Self.texts($0).contains("QUERY-KEY") } == true)
  }

  @Test func `an error about missing credentials names the provider and what is missing`() {
    let half = ProviderCredentials(account: "acct", secret: "SIGNING-SECRET")
    let error = #expect(throws: DirectDNSError.self) {
      try ProviderConfiguration("alidns", credentials: half)
    }
    #expect(error?.message.contains("alidns") == true)
    #expect(error?.message.contains("keyID") == true)
    #expect(error.map { !Self.texts($0).contains("SIGNING-SECRET") } == true)
  }
}
