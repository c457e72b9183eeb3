// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct ProviderProbeTests {
  private static let loopback = IPAddress.ipv4(0x7f00_0001)

  private func ask(
    _ server: FakeProvider, at address: IPAddress = loopback, host: String? = nil, authority: CAFile? = nil,
    timeout: Duration = .seconds(20), clock: any ResolverClock = SystemClock()
  ) async throws -> ProbeReport {
    let trust = TrustStore(privateAuthorities: authority.map { [$0.path] } ?? [], environment: [:])
    let provider = JSONProvider(name: "fake", url: try WebURL(server.url("/resolve", host: host)))
    let probe = try ProviderProbe(trust: trust, clock: clock)
    return await probe.ask(
      provider, at: address, AddressQuestion(Sample.name("www.shop.test"), .ipv4), timeout: timeout)
  }

  private var records: RecordTable {
    var records = RecordTable()
    records.add("www.shop.test", "192.0.2.1", ttl: 60)
    return records
  }

  @Test func `a provider that works tells answer, times, protocol and certificate`() async throws {
    let authority = try TestCertificateAuthority(name: "Probe Authority")
    let file = try authority.makeFile()
    let server = try await FakeProvider.start(
      records: records, configuration: .init(identity: try authority.issue(names: ["dns.test"])))
    let report = try await ask(server, host: "dns.test", authority: file)
    #expect(try report.result.get().addresses == [Sample.address("192.0.2.1")])
    #expect(report.provider == "fake" && report.origin == "https://dns.test:\(server.port)")
    #expect(report.status == 200 && report.httpVersion == "2")
    #expect(report.cipher?.hasPrefix("TLSv1.3 / TLS_") == true)
    let (connect, handshake) = (try #require(report.connect), try #require(report.handshake))
    #expect(connect > .zero && handshake > .zero && connect + handshake <= report.total)
    let certificate = try #require(report.certificate)
    #expect(certificate.issuer.contains("Probe Authority"))
    let expires = try #require(certificate.expires)
    #expect(expires > SystemClock().wallNow)
    let skew = try #require(report.clockSkew)
    #expect(skew > .seconds(-10) && skew < .seconds(10))
    await server.stop()
  }

  @Test(arguments: [
    (TestCertificateAuthority.Validity.expired, "dns.test", "expired"), (.current, "other.test", "dns.test"),
  ])
  func `a certificate that is refused is told by its reason, and nothing is sent`(
    _ validity: TestCertificateAuthority.Validity, _ name: String, _ reason: String
  ) async throws {
    let authority = try TestCertificateAuthority()
    let file = try authority.makeFile()
    let server = try await FakeProvider.start(
      records: records, configuration: .init(identity: try authority.issue(names: [name], validity: validity)))
    let report = try await ask(server, host: "dns.test", authority: file)
    let error = try #require(throws: DirectDNSError.self) { try report.result.get() }
    #expect(error.code == .tlsFailed && error.message.contains(reason), "\(error.message)")
    #expect(report.certificate == nil && report.status == nil && server.requests.isEmpty)
    await server.stop()
  }

  @Test(arguments: [
    (Misbehaviour.status(503), DirectDNSError.Code.upstreamFailed, 503 as Int?),
    (.html, .upstreamFailed, 200), (.responseCode(.serverFailure), .upstreamFailed, 200),
    (.close, .connectionLost, nil), (.hang, .timedOut, nil),
  ])
  func `what does not answer is told with what was seen of it`(
    _ misbehaviour: Misbehaviour, _ code: DirectDNSError.Code, _ status: Int?
  ) async throws {
    let server = try await FakeProvider.start(records: records)
    server.misbehave(misbehaviour)
    let report = try await ask(server, timeout: code == .timedOut ? .milliseconds(300) : .seconds(20))
    let error = try #require(throws: DirectDNSError.self) { try report.result.get() }
    #expect(error.code == code && report.status == status)
    #expect(error.message.hasPrefix("fake at 127.0.0.1: "))
    await server.stop()
  }

  @Test func `a provider that answers with addresses of another family alone has no answer, as in a lookup`()
    async throws
  {
    let server = try await FakeProvider.start(records: records)
    let provider = OwnFormat(inner: JSONProvider(name: "own", url: try WebURL(server.url("/resolve"))))
    let probe = try ProviderProbe(trust: TrustStore(environment: [:]))
    let question = AddressQuestion(Sample.name("www.shop.test"), .ipv4)
    let report = await probe.ask(provider, at: Self.loopback, question, timeout: .seconds(20))
    let error = try #require(throws: DirectDNSError.self) { try report.result.get() }
    #expect(error.message == "own at 127.0.0.1: no address of the family that was asked for.")
    await server.stop()
  }

  @Test func `a port where nobody listens is told, and the address is the one that was asked for`() async throws {
    let server = try await FakeProvider.start(records: records)
    await server.stop()
    let report = try await ask(server, at: .ipv4(0x7f00_0002), host: "dns.test")
    let error = try #require(throws: DirectDNSError.self) { try report.result.get() }
    #expect(error.code == .connectFailed && report.connect == nil && report.address.description == "127.0.0.2")
  }

  @Test(arguments: [3600, -3600] as [Int64]) func `a clock that is off is told by the reply's date`(_ seconds: Int64)
    async throws
  {
    let server = try await FakeProvider.start(records: records)
    server.misbehave(.dateOff(by: seconds))
    let skew = try #require(try await ask(server).clockSkew)
    #expect(abs(skew.components.seconds - seconds) <= 10)
    await server.stop()
  }

  @Test func `the date of a reply out of an HTTP cache is as old as the reply`() async throws {
    let server = try await FakeProvider.start(records: records)
    server.misbehave(.dateOff(by: -3600), .age(3600))
    let skew = try #require(try await ask(server).clockSkew)
    #expect(abs(skew.components.seconds) <= 10)
    await server.stop()
  }
}

/// A format of a caller's own, which says the same of every name.
private struct OwnFormat: Provider {
  let inner: JSONProvider
  var name: String { inner.name }
  var url: WebURL { inner.url }

  func request(for question: AddressQuestion, at secondsSince1970: Int64) -> HTTPMessage {
    inner.request(for: question, at: secondsSince1970)
  }

  func answer(from reply: HTTPReply, to question: AddressQuestion) throws(ProviderFailure) -> Answer {
    Answer(.addresses([.loopback(.ipv6)]), ttl: 60)
  }
}
