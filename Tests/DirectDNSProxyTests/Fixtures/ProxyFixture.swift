// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing
import Tracing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

/// A proxy on loopback that resolves names at a fake provider, and what it has told of.
final class ProxyFixture: Sendable {
  let provider: FakeProvider
  let resolver: DirectDNS.DirectResolver
  let configuration: ProxyConfiguration
  let proxy: ProxyServer
  let port: UInt16
  private let log = Watched<[ProxyAccess]>([])

  init(
    records: RecordTable = RecordTable(), policy: AddressPolicy = .any, clock: any ResolverClock = SystemClock(),
    tracer: any Tracer = NoOpTracer(),
    _ change: (inout ProxyConfiguration) throws -> Void = { _ in }
  ) async throws {
    provider = try await FakeProvider.start(records: records)
    var resolving = ResolverConfiguration(providers: [
      ProviderConfiguration(provider: JSONProvider(name: "fake", url: try WebURL(provider.url("/resolve"))))
    ])
    resolving.usesSystemDNS = false
    resolver = try DirectResolver(resolving, clock: clock)
    var configuration = ProxyConfiguration(listeners: [try ListenAddress("127.0.0.1:0")], policy: policy)
    configuration.limits.drainTimeout = .milliseconds(200)
    let log = log
    configuration.accessLog = { access in log.change { $0.append(access) } }
    try change(&configuration)
    self.configuration = configuration
    proxy = try ProxyServer(configuration, resolver: resolver, ProxyTelemetry(tracer))
    let ports = try await proxy.start().compactMap { if case .tcp(_, let port) = $0 { port } else { nil } }
    guard let port = ports.first else {
      throw DirectDNSError(.connectFailed, "no port")
    }
    self.port = port
  }

  func client() async throws -> RawConnection { try await .connect(to: port) }

  /// What the access log has by then.
  func accesses(_ count: Int) async -> [ProxyAccess] {
    await log.wait { $0.count >= count }
    return log.value
  }

  /// Lets the proxy see all that has come before: its only thread answers another client behind that.
  func turn() async throws {
    let client = try await client()
    try await client.send("GET /live HTTP/1.1\r\nHost: x\r\n\r\n")
    await client.receive("\r\n\r\n")
    await client.close()
  }

  func stop() async {
    await proxy.stop()
    resolver.shutdown()
    await provider.stop()
  }
}
