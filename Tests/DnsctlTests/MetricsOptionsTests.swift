// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DirectDNSPrometheus
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

struct MetricsOptionsTests {
  @Test(arguments: [
    ("127.0.0.1:9464", "127.0.0.1:9464"), ("[::1]:9464", "[::1]:9464"), ("localhost:1", "127.0.0.1:1"),
    ("0.0.0.0:0", "0.0.0.0:0"),
  ])
  func `a place is an address and a port`(_ text: String, _ place: String) {
    #expect(MetricsPlace(text)?.description == place)
  }

  @Test(arguments: [
    "", "9464", ":9464", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:+1", "::1:9464", "[127.0.0.1]:1",
    "a.example:1", "[::1]",
  ])
  func `anything else is refused`(_ text: String) async {
    #expect(MetricsPlace(text) == nil)
    let outcome = await CommandFixture().run(["watch", "--metrics", text, "www.example.com"])
    #expect(outcome.status == 64 && outcome.errors.contains("--metrics"))
  }

  @Test(arguments: [["watch", "--count", "1"], ["warmup", "--provider", "google", "--no-system", "--family", "ipv4"]])
  func `metrics are collected before the resolver is made, served, and said to be`(command: [String]) async throws {
    var fixture = CommandFixture()
    fixture.zone = ["www.example.com": .addresses(["192.0.2.1"])]
    let outcome = await fixture.run(command + ["--metrics", "127.0.0.1:0", "www.example.com"])
    #expect(outcome.status == 0)
    #expect(fixture.registries.withLock { $0.count } == 1)
    let said = try #require(outcome.errors.split(separator: "\n").first)
    #expect(said.hasPrefix("dnsctl: metrics at http://127.0.0.1:") && said.hasSuffix("/metrics"))
  }

  @Test func `supervisors are told whether it is ready`() async throws {
    let isReady = Locked(false)
    let endpoint = try #require(
      try await MetricsOptions.parse(["--metrics", "127.0.0.1:0"]).start(in: CommandFixture().context) {
        isReady.withLock { $0 } ? .ready : .notReady("not yet")
      })
    var configuration = DirectClientConfiguration()
    configuration.policy = .any
    let client = try DirectClient(configuration, resolver: DirectResolver(ResolverConfiguration(providers: [])))
    let place = try WebURL(try #require(endpoint.url))
    func status(_ path: String) async throws -> Int {
      try await client.execute(HTTPRequest(method: .get, url: WebURL(path, base: place))).status.code
    }
    #expect(try await status("/ready") == 503)
    #expect(try await status("/live") == 200)
    isReady.withLock { $0 = true }
    #expect(try await status("/ready") == 200)
    await client.shutdown()
    await endpoint.stop()
  }

  @Test func `an address that others reach needs a second word`() async {
    let outcome = await CommandFixture().run(["watch", "--metrics", "0.0.0.0:0", "www.example.com"])
    #expect(outcome.status == 64 && outcome.errors.contains("--metrics-remote"))
    let remote = await CommandFixture().run([
      "watch", "--count", "1", "--metrics", "0.0.0.0:0", "--metrics-remote", "a.example",
    ])
    #expect(remote.status == 0)
    #expect(await CommandFixture().run(["watch", "--metrics-remote", "a.example"]).status == 64)
  }

  @Test func `a port that is taken ends the command`() async throws {
    let endpoint = try MetricsEndpoint(PrometheusRegistry(), MetricsEndpointConfiguration(port: 0))
    try await endpoint.start()
    let port = try WebURL(endpoint.url ?? "").effectivePort
    let outcome = await CommandFixture().run(["watch", "--metrics", "127.0.0.1:\(port)", "a.example"])
    #expect(outcome.status == 74 && outcome.errors.contains("cannot listen on 127.0.0.1:\(port)"))
    await endpoint.stop()
  }
}
