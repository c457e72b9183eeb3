// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The servers themselves, asked by curl: what the tests of the library stand on.
@Suite("The real servers", .enabled(if: ServerFixture.missing.isEmpty, "not every server is installed"))
struct RealServerTests {
  // MARK: DNS over HTTPS

  @Test(arguments: DoHKind.allCases)
  func `a server answers for the zone`(_ kind: DoHKind) async throws {
    try await answers(from: kind.server)
  }

  private func answers<Server: DoHServer>(from kind: Server.Type) async throws {
    try await kind.running { server in
      for method in Curl.Method.allCases {
        let www = try await Curl.ask(server, "www.lab.test", .a, by: method)
        #expect(www == .init(responseCode: 0, addresses: ["127.0.0.1"]))
      }
      let many = try await Curl.ask(server, "many.lab.test", .a)
      #expect(many.addresses.sorted() == ["127.0.0.1", "127.0.0.2", "127.0.0.3"])
      #expect(try await Curl.ask(server, "chain.lab.test", .a).addresses == ["127.0.0.1"])
      #expect(try await Curl.ask(server, "host-000299.lab.test", .a).addresses == ["127.1.1.43"])
      let six = "0:0:0:0:0:0:0:1"
      #expect(try await Curl.ask(server, "dual.lab.test", .aaaa).addresses == [six])
      #expect(try await Curl.ask(server, "six-only.lab.test", .aaaa).addresses == [six])
      #expect(try await Curl.ask(server, "six-only.lab.test", .a) == .init(responseCode: 0, addresses: []))
      #expect(try await Curl.ask(server, "missing.lab.test", .a) == .init(responseCode: 3, addresses: []))
    }
  }

  @Test(arguments: DoHKind.allCases)
  func `a server that was killed refuses, and answers again on the same port`(_ kind: DoHKind) async throws {
    try await survivesKilling(kind.server)
  }

  private func survivesKilling<Server: DoHServer>(_ kind: Server.Type) async throws {
    try await kind.running { server in
      #expect(try await Curl.ask(server, "www.lab.test", .a).addresses == ["127.0.0.1"])
      try await server.kill()
      await #expect(throws: Curl.Failure(status: Curl.refused)) {
        try await Curl.ask(server, "www.lab.test", .a)
      }
      try await server.start()
      #expect(try await Curl.ask(server, "www.lab.test", .a).addresses == ["127.0.0.1"])
      try await server.restart()
      #expect(try await Curl.ask(server, "www.lab.test", .a).addresses == ["127.0.0.1"])
    }
  }

  @Test(arguments: DoHKind.allCases)
  func `a paused server keeps a client waiting until it goes on`(_ kind: DoHKind) async throws {
    try await pauses(kind.server)
  }

  private func pauses<Server: DoHServer>(_ kind: Server.Type) async throws {
    try await kind.running { server in
      try await server.pause()
      await #expect(throws: Curl.Failure(status: Curl.timedOut)) {
        try await Curl.ask(server, "www.lab.test", .a, within: 0.3)
      }
      await server.resume()
      let reply = try await Curl.ask(server, "www.lab.test", .a)
      #expect(reply.addresses == ["127.0.0.1"])
    }
  }

  @Test func `a server that does not stand still when it was told to is a failure`() async {
    // This process, which nobody has stopped.
    let process = ProcessInfo.processInfo.processIdentifier
    await #expect {
      try await ServerProcess.standStill(process, program: "dnsdist", within: .zero)
    } throws: { error in
      "\(error)".contains("dnsdist (process \(process)) was told to stop and did not within 0")
    }
  }

  @Test func `an endpoint without its backend answers with an error or not at all`() async throws {
    try await DNSDist.running { server in
      try await server.backend.kill()
      await #expect(throws: Curl.Failure.self) { try await Curl.ask(server, "www.lab.test", .a) }
      try await server.backend.start()
      #expect(try await Curl.ask(server, "www.lab.test", .a).addresses == ["127.0.0.1"])
    }
  }

  // MARK: JSON

  @Test func `the JSON interface answers for the zone by both protocols`() async throws {
    try await NginxJSON.running { server in
      for url in [server.jsonURL, server.plainURL] {
        let www = try await Curl.json(server, "\(url)?name=www.lab.test&type=A")
        #expect(www == .init(responseCode: 0, addresses: ["127.0.0.1"]))
        let six = try await Curl.json(server, "\(url)?name=dual.lab.test.&type=28")
        #expect(six == .init(responseCode: 0, addresses: ["::1"]))
        let chain = try await Curl.json(server, "\(url)?name=CHAIN.lab.test&type=1")
        #expect(chain.addresses == ["alias.lab.test.", "www.lab.test.", "127.0.0.1"])
        let none = try await Curl.json(server, "\(url)?name=six-only.lab.test&type=A")
        #expect(none == .init(responseCode: 0, addresses: []))
        let missing = try await Curl.json(server, "\(url)?name=missing.lab.test&type=A")
        #expect(missing == .init(responseCode: 3, addresses: []))
      }
    }
  }

  @Test func `the JSON interface fails on demand`() async throws {
    try await NginxJSON.running { server in
      let base = server.jsonURL.dropLast("/resolve".count)
      let reply = try await Curl.json(server, "\(base)/servfail?name=www.lab.test")
      #expect(reply.responseCode == 2)
      await #expect(throws: Curl.Failure(status: Curl.httpError)) {
        try await Curl.json(server, "\(base)/error?name=www.lab.test")
      }
    }
  }

  @Test func `the JSON interface can be killed, started and paused`() async throws {
    try await NginxJSON.running { server in
      let url = "\(server.jsonURL)?name=www.lab.test"
      try await server.kill()
      await #expect(throws: Curl.Failure(status: Curl.refused)) { try await Curl.json(server, url) }
      try await server.start()
      try await server.pause()
      await #expect(throws: Curl.Failure(status: Curl.timedOut)) {
        try await Curl.json(server, url, within: 0.3)
      }
      await server.resume()
      #expect(try await Curl.json(server, url).addresses == ["127.0.0.1"])
    }
  }
}

/// Says when the suite was left out, and does not let it pass in silence where the run vouches for the code.
@Suite("The real servers' presence")
struct RealServerPresenceTests {
  /// What `Scripts/prerequisites servers` brings; Node, Java and Go are large, and asked where they are.
  private static let programs = ["redis-server", "promtool", "mandoc", "man", "zsh", "fish", "git"]
  private static let clients: [ProxyClient] = [.curl, .wget, .requests, .aiohttp, .httpx]

  @Test func `the real servers and clients are installed, or the run says that it skipped them`() async throws {
    var all = Set(ServerFixture.missing + LookupTool.missing + WebKind.missing)
    all.formUnion(Self.programs.filter { ServerFixture.path(of: $0) == nil })
    for client in Self.clients where await client.missing != nil { all.insert(client.rawValue) }
    guard !all.isEmpty else { return }
    let missing = all.sorted().joined(separator: ", ")
    print("SKIPPED tests with real servers and clients: \(missing) cannot be found. `make test` installs them.")
    if ServerFixture.isVouching { Issue.record("tests were skipped: \(missing) cannot be found") }
  }
}
