// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSConfiguration
@testable import DnsctlCommands

struct FindingTests {
  private static let now = WallInstant(milliseconds: 1_700_000_000_000)

  private static func report(
    _ result: Result<Answer, DirectDNSError> = .success(Answer(.addresses([.ipv4(1)]), ttl: 60)),
    total: Duration = .milliseconds(12), expiresIn days: Int64? = 60, skew: Duration? = nil,
    at address: String = "192.0.2.53"
  ) throws -> ProbeReport {
    let outcome = CurlProbe.Outcome(
      result: .failure(.timedOut), total: total, cipher: "TLSv1.3 / TLS_AES_128_GCM_SHA256",
      certificate: [])
    var report = ProbeReport(
      JSONProvider(name: "google", url: try WebURL("https://dns.google/resolve")),
      at: try #require(IPAddress(address)), AddressQuestion(try HostName("example.com"), .ipv4), outcome, seenAt: now)
    report.result = result
    (report.status, report.httpVersion, report.clockSkew) = (200, "2", skew)
    report.certificate = days.map {
      .init(
        subject: "CN = dns.google", issuer: "C = US, O = Google Trust Services, CN = WR2",
        expires: now + .seconds($0 * 86_400))
    }
    return report
  }

  @Test func `a provider that answers is fine, with what was seen`() throws {
    let finding = Finding.probe(try Self.report(), at: Self.now)
    #expect(finding.grade == .ok && finding.subject == "google 192.0.2.53" && finding.advice == nil)
    #expect(
      finding.detail
        == "12.0 ms, HTTP/2 200, TLSv1.3 / TLS_AES_128_GCM_SHA256, by Google Trust Services, ends in 60 d")
  }

  @Test(arguments: [
    (Answer.Negative.nameNotFound, "; says that the name does not exist"),
    (.noAddress, "; says that the name has no address"),
  ])
  func `one that has no address for the name is fine, and it is told`(_ negative: Answer.Negative, _ end: String) throws
  {
    let finding = Finding.probe(try Self.report(.success(Answer(.negative(negative), ttl: 60))), at: Self.now)
    #expect(finding.grade == .ok && finding.detail.hasSuffix("ends in 60 d\(end)"), "\(finding.detail)")
  }

  @Test func `a provider whose name is its address is told by its origin`() throws {
    var report = try Self.report()
    (report.provider, report.origin) = ("192.0.2.53", "https://192.0.2.53:8443")
    #expect(Finding.probe(report, at: Self.now).subject == "https://192.0.2.53:8443")
  }

  @Test func `one that is slow or whose certificate ends soon is warned of`() throws {
    #expect(Finding.probe(try Self.report(total: .seconds(2)), at: Self.now).grade == .warn)
    #expect(Finding.probe(try Self.report(expiresIn: 13), at: Self.now).grade == .warn)
    #expect(Finding.probe(try Self.report(expiresIn: nil), at: Self.now).grade == .ok)
  }

  @Test(arguments: [
    (DirectDNSError.Code.tlsFailed, "clock"), (.connectFailed, "firewall"), (.timedOut, "silent"),
    (.upstreamFailed, "credentials"), (.connectionLost, "credentials"), (.malformedResponse, "credentials"),
  ])
  func `a failure says what to do`(_ code: DirectDNSError.Code, _ word: String) throws {
    let error = DirectDNSError(code, "google at 192.0.2.53: out of order")
    let finding = Finding.probe(try Self.report(.failure(error)), at: Self.now)
    #expect(finding.grade == .fail && finding.detail == "out of order (after 12.0 ms)")
    #expect(finding.advice?.contains(word) == true)
  }

  @Test func `where this machine cannot set up TLS, nobody is suspected of intercepting it`() throws {
    let error = DirectDNSError(.tlsFailed, "no such file", underlying: HTTPTransportError.tlsSetup("no such file"))
    #expect(Finding.probe(try Self.report(.failure(error)), at: Self.now).advice?.contains("SSL_CERT_FILE") == true)
  }

  @Test(arguments: [
    ("certificate has expired", "have it renewed", true), ("certificate is not yet valid", "set the clock", true),
    ("no alternative certificate subject name matches", "Another server", false),
    ("self-signed certificate", "trust that (", false), ("wrong version number", "speaks no TLS", false),
    ("sslv3 alert handshake failure", "being intercepted", false),
  ])
  func `what is wrong with a certificate says what to do, and whether the clock may be wrong`(
    _ reason: String, _ advice: String, _ mayBeTheClock: Bool
  ) throws {
    let error = DirectDNSError(.tlsFailed, "google at 192.0.2.53: no", underlying: HTTPTransportError.tls(reason))
    let report = try Self.report(.failure(error))
    #expect(Finding.probe(report, at: Self.now).advice?.contains(advice) == true)
    let clock = Finding.clock([report], jump: .zero)
    #expect(clock.grade == .warn && clock.advice?.contains("by this clock") == mayBeTheClock)
  }

  @Test(arguments: [(429, "ask it less often"), (503, "It says that it fails"), (403, "credentials")])
  func `a status without an answer says what to do`(_ status: Int, _ advice: String) throws {
    var report = try Self.report(.failure(DirectDNSError(.upstreamFailed, "google at 192.0.2.53: no")))
    report.status = status
    #expect(Finding.probe(report, at: Self.now).advice?.contains(advice) == true)
  }

  @Test(
    arguments: [
      ([], Finding.Grade.warn, "no provider sent"), ([0], .ok, "right to 2 s"), ([-1], .ok, "right to 2 s"),
      ([40], .warn, "40 s behind"), ([-40], .warn, "40 s ahead"), ([3600], .fail, "60 min behind"),
      ([0, 1, 9000], .ok, "right to 2 s"), ([-9000, -9000, 0], .fail, "ahead"),
    ] as [([Int64], Finding.Grade, String)])
  func `the clock is judged by the median of the providers'`(_ skews: [Int64], _ grade: Finding.Grade, _ text: String)
    throws
  {
    let reports = try skews.map { try Self.report(skew: .seconds($0)) }
    let finding = Finding.clock(reports, jump: .zero)
    #expect(finding.grade == grade && finding.detail.contains(text), "\(finding.detail)")
  }

  @Test(arguments: [-5, 5] as [Int64]) func `a clock that is set meanwhile is warned of`(_ seconds: Int64) throws {
    #expect(
      Finding.clock([try Self.report(skew: .zero)], jump: .seconds(seconds)).detail == "was set by 5 s during the check"
    )
  }

  @Test(
    arguments: [
      ("8.5.0", "OpenSSL/3.0.17", "1.52.0", Finding.Grade.ok), ("8.11.1", "OpenSSL/3", "1.0", .fail),
      ("8.11.0", "OpenSSL/3", "1.0", .ok), ("7.88.1", nil, "1.0", .fail), ("7.88.1", "OpenSSL/3", nil, .warn),
      ("strange", "OpenSSL/3", "1.0", .ok),
    ] as [(String, String?, String?, Finding.Grade)])
  func `libcurl is judged by its version and by what it can do`(
    _ version: String, _ tls: String?, _ http2: String?, _ grade: Finding.Grade
  ) {
    var packages = SystemPackages()
    (packages.curl, packages.tls, packages.http2) = (version, tls, http2)
    #expect(Finding.packages(packages).first { $0.subject == "libcurl" }?.grade == grade)
  }

  @Test(arguments: [
    ("1.18.1", Finding.Grade.ok), ("1.32.2", .ok), ("1.32.3", .warn), ("1.34.4", .warn), ("1.34.5", .ok),
    ("2.0.0", .ok),
  ])
  func `c-ares is judged by its version`(_ version: String, _ grade: Finding.Grade) {
    var packages = SystemPackages()
    packages.cAres = version
    #expect(Finding.packages(packages).first { $0.subject == "c-ares" }?.grade == grade)
  }

  @Test(arguments: [
    ("DIRECTDNS_PROVIDER", "DIRECTDNS_PROVIDERS"), ("DIRECTDNS_TIMOUT", "DIRECTDNS_TIMEOUT"),
    ("DIRECTDNS_ALIDNS_KEYID", "DIRECTDNS_ALIDNS_KEY_ID"),
  ])
  func `a variable that looks like a misspelt one is warned of`(_ name: String, _ meant: String) {
    let finding = Finding.warn("variables", "\(name) changes nothing", "Did you mean \(meant)?")
    #expect(Finding.variables(["HOME", name, "DIRECTDNS_STORE"]) == [finding])
  }

  @Test(arguments: [["resolve", "192.0.2.1"], ["rewrite", "--allow", "192.0.2.0/24", "http://192.0.2.1/"]])
  func `other commands tell it on standard error`(_ arguments: [String]) async {
    let outcome = await CommandFixture(environment: ["DIRECTDNS_PROVIDER": "alidns"]).run(arguments)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.errors == "dnsctl: DIRECTDNS_PROVIDER changes nothing. Did you mean DIRECTDNS_PROVIDERS?\n")
  }

  @Test func `variables that are known, or of others, are none of its business`() {
    let others = ["HOME", "DIRECTDNS_X", "DIRECTDNS_SEED", "DIRECTDNS_TEST_TARGETS", "DIRECTDNS_", "PROVIDER"]
    #expect(Finding.variables(others + EnvironmentSettings.names).isEmpty)
  }

  @Test func `the status is that of the worst finding`() {
    let (ok, warn, fail) = (Finding.ok("a", "b"), Finding.warn("a", "b", "c"), Finding.fail("a", "b", "c"))
    #expect(CheckCommand.status([ok], isStrict: true) == .answered)
    #expect(CheckCommand.status([ok, warn], isStrict: false) == .answered)
    #expect(CheckCommand.status([ok, warn], isStrict: true) == .noAnswer)
    #expect(CheckCommand.status([fail, warn, ok], isStrict: false) == .upstreamFailed)
    #expect(CheckCommand.status([], isStrict: true) == .answered)
  }
}
