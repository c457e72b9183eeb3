// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

@testable import DirectDNSProxy

struct ProxyConfigurationTests {
  private static var times: [WritableKeyPath<ProxyLimits, Duration>] {
    [
      \.headTimeout, \.idleTimeout, \.connectTimeout, \.responseTimeout, \.tunnelTimeout, \.halfClosedTimeout,
      \.poolTimeout, \.drainTimeout,
    ]
  }

  private func code(_ change: (inout ProxyLimits) -> Void) -> DirectDNSError.Code? {
    var configuration = ProxyConfiguration()
    change(&configuration.limits)
    do throws(DirectDNSError) {
      try configuration.validate()
      return nil
    } catch {
      return error.code
    }
  }

  @Test(arguments: [-1, 30 * 86_400 + 1, .max] as [Int64]) func `no time is negative, or longer than 30 days`(
    _ seconds: Int64
  ) {
    for time in Self.times {
      #expect(code { $0[keyPath: time] = .seconds(seconds) } == .invalidConfiguration)
      #expect(code { $0[keyPath: time] = .seconds(30 * 86_400) } == nil)
    }
  }

  @Test func `without time nothing is kept and nobody waited for; all else needs some`() {
    for time in Self.times {
      let mayBeNone = time == \.poolTimeout || time == \.drainTimeout
      #expect(code { $0[keyPath: time] = .zero } == (mayBeNone ? nil : .invalidConfiguration))
    }
    #expect(code { $0.pooledConnections = -1 } == .invalidConfiguration)
    #expect(code { $0.pooledConnections = 0 } == nil)
  }

  @Test(arguments: [LookupOptions(families: []), LookupOptions(timeout: .zero), LookupOptions(timeout: .seconds(-1))])
  func `options by which every lookup would fail are refused`(_ lookup: LookupOptions) {
    let error = #expect(throws: DirectDNSError.self) { try ProxyConfiguration(lookup: lookup).validate() }
    #expect(error?.code == .invalidConfiguration && error?.message.hasPrefix("lookup.") == true)
  }

  @Test func `an upstream proxy that nothing can be connected to is refused by its name`() throws {
    var upstream = try UpstreamProxy("http://proxy.example")
    upstream.port = 0
    let error = #expect(throws: DirectDNSError.self) { try ProxyConfiguration(upstream: upstream).validate() }
    #expect(error?.message == "http://proxy.example:0: the port is 0, which no proxy has.")
  }

  @Test func `an address that this machine does not have is not told to take users`() throws {
    var configuration = ProxyConfiguration(listeners: [try ListenAddress("192.0.2.1:3128")])
    #expect {
      try configuration.validate()
    } throws: {
      "\($0)".contains("this machine has no such address")
    }
    configuration.users = try ProxyUsers(tokens: ["0123456789abcdef"])
    // It may get it until it listens, and otherwise hears of it then.
    try configuration.validate()
  }

  @Test func `there is room for one tunnel at least, and for as many as there are clients by default`() {
    #expect(code { $0.tunnels = 0 } == .invalidConfiguration)
    #expect(code { $0.tunnels = 1 } == nil)
    #expect(ProxyLimits().tunnels == nil)
  }
}
