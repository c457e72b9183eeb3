// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DirectDNS
import DirectDNSConfiguration
import DirectDNSProxy
import Testing

@testable import DirectDNSTesting
@testable import DnsctlCommands
@testable import dnsctl_proxy

@Suite("A command's proxy", .timeLimit(.minutes(1)))
struct ProxyRunTests {
  private func serve(
    _ listeners: [ListenAddress], loops: Int = 1, _ body: (ProxyRun) async throws(SettingsError) -> Void
  ) async throws {
    let resolver = try DirectResolver()
    defer { resolver.shutdown() }
    let context = ProxyDesk([:]).context
    let inputs = try ProxyInputs(DirectSettings(), RouteOptions.parse([]), nil, in: context) { _, _, _ in
      ProxyConfiguration(listeners: listeners, limits: ProxyLimits(), loops: loops)
    }
    try await ProxyRun.serve(inputs, resolver, in: context, body)
  }

  @Test(arguments: [true, false])
  func `it listens while it is used, and no longer, also where that fails`(_ fails: Bool) async throws {
    let failure = SettingsError(.usage, "no")
    var port: UInt16 = 0
    var caught: SettingsError?
    do {
      try await serve([.tcp(.loopback(), port: 0)]) { run throws(SettingsError) in
        guard case .tcp(_, let chosen)? = run.places.first else { return }
        port = chosen
        if fails { throw failure }
      }
    } catch {
      caught = error as? SettingsError
    }
    #expect(caught == (fails ? failure : nil))
    // Nobody listens there any more.
    try #require(port > 0)
    try await serve([.tcp(.loopback(), port: port)]) { _ in }
  }

  @Test func `a configuration that cannot be used and a place that is taken have statuses of their own`() async throws {
    let taken = try await RawListener.start()
    let place = ListenAddress.tcp(.loopback(), port: UInt16(taken.port))
    for (loops, status) in [(0, ExitStatus.usage), (1, .streams)] {
      let error = await #expect(throws: SettingsError.self) { try await serve([place], loops: loops) { _ in } }
      #expect(error?.status == status)
    }
    await taken.stop()
  }
}
