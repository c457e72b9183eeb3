// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DirectDNS
import DirectDNSConfiguration
import Testing

@testable import DirectDNSProxy
@testable import DnsctlCommands
@testable import dnsctl_proxy

@Suite("The files that a running proxy reads again", .timeLimit(.minutes(1)))
struct ProxyInputsTests {
  private static let users = "ann:\(TestHashes.bcrypt)\n"
  private static let others = "bob:\(TestHashes.bcrypt)\n"
  private static let upstream = "http://192.0.2.1:1"
  private static let otherUpstream = "http://192.0.2.1:2"

  private func running(
    _ fixture: ContextFixture, _ body: (ProxyInputs, ProxyServer) throws -> Void
  ) throws {
    let resolver = try DirectResolver()
    defer { resolver.shutdown() }
    let inputs = try ProxyInputs(
      DirectSettings(), RouteOptions.parse(["--upstream", "@up"]),
      ProxyOptions.parse(["--users", "users", "--token", "@token"]), in: fixture.context
    ) { settings, entry, users in
      ProxyConfiguration(
        policy: settings.addressPolicy, upstream: entry.upstream, routes: entry.routes, users: users)
    }
    try body(inputs, ProxyServer(inputs.configuration(), resolver: resolver))
  }

  private func fixture() -> ContextFixture {
    ContextFixture(["up": Self.upstream + "\n", "users": Self.users, "token": "0123456789abcdef\n"])
  }

  private func knows(_ name: String, _ server: ProxyServer) -> Bool {
    server.shared.settings.configuration.users?.checkHash(name, TestHashes.password) == true
  }

  @Test(
    arguments: [
      ("up", "no URL\n", "--upstream: ", "The previous upstream proxy stays in force.\n"),
      ("up", nil, "--upstream: there is no file up.", "The previous upstream proxy stays in force.\n"),
      ("users", "broken\n", "users: line 1 of the users", "The previous users stay in force.\n"),
      ("users", nil, "--users: there is no file users.", "The previous users stay in force.\n"),
      ("token", "short\n", "--token: ", "The previous token stays in force.\n"),
      ("token", nil, "--token: there is no file token.", "The previous token stays in force.\n"),
      ("token", "not UTF-8: \u{fffd}\n", "--token: it is not UTF-8", "The previous token stays in force.\n"),
    ] as [(String, String?, String, String)])
  func `a file with a mistake stays as it was, and the others apply`(
    file: String, text: String?, reason: String, otherwise: String
  ) throws {
    let fixture = fixture()
    try running(fixture) { inputs, server in
      fixture.put(Self.otherUpstream, at: "up")
      fixture.put(Self.others, at: "users")
      fixture.put("fedcba9876543210\n", at: "token")
      fixture.put(text, at: file)
      inputs.update(server)
      let configuration = server.shared.settings.configuration
      let upstream = try UpstreamProxy(file == "up" ? Self.upstream : Self.otherUpstream)
      #expect(configuration.upstream == upstream)
      #expect(knows("ann", server) == (file == "users") && knows("bob", server) == (file != "users"))
      let token = file == "token" ? "0123456789abcdef" : "fedcba9876543210"
      #expect(configuration.users?.quickCheck("x", token) == .token)
      #expect(fixture.said.hasPrefix("dnsctl: \(reason)") && fixture.said.hasSuffix(otherwise), "\(fixture.said)")
    }
  }

  @Test(arguments: [("--users", ""), ("--token", "@"), ("--upstream", "@")])
  func `an empty name of a file is a mistake of the command line`(option: String, value: String) throws {
    let (route, proxy): ([String], [String]) =
      option == "--upstream" ? ([option, value], []) : ([], [option, value])
    let error = #expect(throws: CommandError.self) {
      try ProxyInputs(
        DirectSettings(), RouteOptions.parse(route), ProxyOptions.parse(proxy), in: ContextFixture([:]).context
      ) { _, _, users in ProxyConfiguration(users: users) }
    }
    #expect(error == CommandError(.usage, "\(option): the name of the file is empty."))
  }

  @Test func `another proxy that is this one stays out, and what else is new applies`() throws {
    let fixture = fixture()
    try running(fixture) { inputs, server in
      fixture.put("http://127.0.0.1:3128", at: "up")
      fixture.put(Self.others, at: "users")
      inputs.update(server)
      let upstream = try UpstreamProxy(Self.upstream)
      #expect(server.shared.settings.configuration.upstream == upstream)
      #expect(knows("bob", server) && fixture.said.contains("listens itself"), "\(fixture.said)")
    }
  }

  @Test func `users who were known stay so when a file changes`() throws {
    let fixture = fixture()
    try running(fixture) { inputs, server in
      #expect(knows("ann", server))
      fixture.put(Self.users + Self.others, at: "users")
      inputs.update(server)
      let users = server.shared.settings.configuration.users
      #expect(users?.quickCheck("ann", TestHashes.password) == .correct)
      #expect(users?.quickCheck("bob", TestHashes.password) == .needsHash)
      inputs.take(try DirectSettings(), for: server)
      #expect(server.shared.settings.configuration.users?.quickCheck("ann", TestHashes.password) == .correct)
    }
  }

  @Test func `settings of the configuration file are checked before they are taken`() throws {
    let fixture = fixture()
    try running(fixture) { inputs, server in
      var settings = try DirectSettings()
      settings.addressPolicy = .any
      settings.proxy.routes.set(.upstream, for: try ProxyRoutes.Pattern("b.test"))
      // There is another proxy, by --upstream.
      try inputs.check(settings, for: server)
      #expect(server.shared.settings.configuration.policy == .publicOnly)
      inputs.take(settings, for: server)
      #expect(server.shared.settings.configuration.policy == .any && fixture.said == "", "\(fixture.said)")
    }
  }

  @Test func `a route through another proxy needs one`() throws {
    let resolver = try DirectResolver()
    defer { resolver.shutdown() }
    let inputs = try ProxyInputs(DirectSettings(), RouteOptions.parse([]), nil, in: ContextFixture([:]).context) {
      _, entry, _ in
      ProxyConfiguration(upstream: entry.upstream, routes: entry.routes)
    }
    let server = try ProxyServer(inputs.configuration(), resolver: resolver)
    var settings = try DirectSettings()
    settings.proxy.routes.set(.upstream, for: try ProxyRoutes.Pattern("b.test"))
    #expect {
      try inputs.check(settings, for: server)
    } throws: {
      "\($0)".contains("proxy.routes: b.test=upstream: there is no upstream proxy")
    }
  }

  @Test(
    arguments: [
      ([], DnsctlCommands.ExitStatus.configuration), (["--route", "b.test=upstream"], .usage),
      (["--route", "b.test=direct"], .answered), (["--upstream", "http://192.0.2.1:1"], .answered),
    ] as [([String], DnsctlCommands.ExitStatus)])
  func `a route of the configuration file that leads nowhere is the file's mistake`(
    options: [String], status: DnsctlCommands.ExitStatus
  ) async throws {
    var settings = try DirectSettings()
    settings.proxy.routes.set(.upstream, for: try ProxyRoutes.Pattern("b.test"))
    let context = ContextFixture([:]).context
    let inputs = try ProxyInputs(settings, RouteOptions.parse(options), nil, in: context) { _, entry, _ in
      ProxyConfiguration(
        listeners: [.tcp(.loopback(), port: 0)], upstream: entry.upstream, routes: entry.routes)
    }
    let resolver = try DirectResolver()
    defer { resolver.shutdown() }
    var said = DnsctlCommands.ExitStatus.answered
    do throws(CommandError) {
      try await ProxyRun.serve(inputs, resolver, in: context) { _ in }
    } catch {
      said = error.status
    }
    #expect(said == status)
  }

  @Test(
    arguments: [
      ([], DnsctlCommands.ExitStatus.configuration, "proxy.upstream: http://127.0.0.1:3128"),
      (["--upstream", "http://127.0.0.1:3128"], .usage, "http://127.0.0.1:3128"),
    ] as [([String], DnsctlCommands.ExitStatus, String)])
  func `another proxy that is this one is the mistake of the file or of the command line that names it`(
    options: [String], status: DnsctlCommands.ExitStatus, beginning: String
  ) async throws {
    var settings = try DirectSettings()
    settings.proxy.upstream = try UpstreamProxy("http://127.0.0.1:3128")
    let context = ContextFixture([:]).context
    let inputs = try ProxyInputs(settings, RouteOptions.parse(options), nil, in: context) { _, entry, _ in
      ProxyConfiguration(upstream: entry.upstream)
    }
    let resolver = try DirectResolver()
    defer { resolver.shutdown() }
    let error = await #expect(throws: CommandError.self) {
      try await ProxyRun.serve(inputs, resolver, in: context) { _ in }
    }
    #expect(error?.status == status && error?.message.hasPrefix(beginning) == true, "\(error?.message ?? "")")
  }
}
