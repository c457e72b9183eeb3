// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DirectDNS
import DirectDNSConfiguration
import DirectDNSProxy
import Testing

@testable import DirectDNSTesting
@testable import DnsctlCommands
@testable import dnsctl_proxy

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("A command's proxy", .timeLimit(.minutes(1)))
struct ProxyRunTests {
  private func serve(
    _ listeners: [ListenAddress], inherited: [Int32] = [], threads: Int = 1,
    _ body: (ProxyRun) async throws(CommandError) -> Void,
    stop: (ProxyServer) async -> Void = { await $0.stop() }
  ) async throws {
    let resolver = try DirectResolver()
    defer { resolver.shutdown() }
    let context = ContextFixture([:]).context
    let inputs = try ProxyInputs(DirectSettings(), RouteOptions.parse([]), nil, in: context) { _, _, _ in
      ProxyConfiguration(listeners: listeners, inherited: inherited, limits: ProxyLimits(), threads: threads)
    }
    try await ProxyRun.serve(inputs, resolver, in: context, body, stop: stop)
  }

  @Test(arguments: [true, false])
  func `it listens while it is used, and no longer, also where that fails`(_ fails: Bool) async throws {
    let failure = CommandError(.usage, "no")
    var port: UInt16 = 0
    var caught: CommandError?
    do {
      try await serve([.tcp(.loopback(), port: 0)]) { run throws(CommandError) in
        guard case .tcp(_, let chosen)? = run.places.first else { return }
        port = chosen
        if fails { throw failure }
      }
    } catch {
      caught = error as? CommandError
    }
    #expect(caught == (fails ? failure : nil))
    // Nobody listens there any more.
    try #require(port > 0)
    try await serve([.tcp(.loopback(), port: port)]) { _ in }
  }

  @Test(arguments: [true, false])
  func `a command stops it in its own way, also where its use fails`(_ fails: Bool) async throws {
    var stops = 0
    var caught: CommandError?
    do {
      try await serve([.tcp(.loopback(), port: 0)]) { _ throws(CommandError) in
        if fails { throw CommandError(.usage, "no") }
      } stop: { server in
        stops += 1
        await server.stop()
      }
    } catch {
      caught = error as? CommandError
    }
    #expect(stops == 1 && (caught != nil) == fails)
  }

  @Test func `a configuration that cannot be used and a place that is taken have statuses of their own`() async throws {
    let taken = try await RawListener.start()
    let place = ListenAddress.tcp(.loopback(), port: UInt16(taken.port))
    for (threads, status) in [(0, ExitStatus.usage), (1, .streams)] {
      let error = await #expect(throws: CommandError.self) { try await serve([place], threads: threads) { _ in } }
      #expect(error?.status == status)
    }
    await taken.stop()
  }

  @Test func `a socket of systemd's that other machines reach is a wrong configuration without users`() async throws {
    let descriptor = socket(AF_INET, Self.stream, 0)
    try #require(listen(descriptor, 16) == 0)
    let error = await #expect(throws: CommandError.self) { try await serve([], inherited: [descriptor]) { _ in } }
    #expect(error?.status == .configuration && error?.message.contains("--users FILE") == true)
  }

  #if canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue)
  #else
    private static let stream = SOCK_STREAM
  #endif
}
