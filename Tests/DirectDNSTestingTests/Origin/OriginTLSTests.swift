// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Foundation
import Testing

/// What a fake origin shows under TLS, and what it asks for.
@Suite(.timeLimit(.minutes(1)))
struct OriginTLSTests {
  private static let loopback = IPAddress.ipv4(0x7F00_0001)
  private static let (handshakeFailed, untrusted): (Int32, Int32) = (35, 60)

  @Test func `each name gets its own certificate, and every other name the first one`() async throws {
    let authority = try TestCertificateAuthority()
    let configuration = FakeOriginConfiguration(
      identity: try authority.issue(names: [], addresses: [Self.loopback]),
      identities: [
        "a.test": try authority.issue(names: ["a.test"]),
        "B.test": try authority.issue(names: ["b.test"], validity: .expired),
        "c.test": try authority.issue(names: ["other.test"]),
        "d.test": try TestCertificateAuthority.selfSigned(names: ["d.test"]),
      ])
    try await authority.withCAFile { ca async throws in
      try await withOrigin(configuration) { origin async throws in
        let names = ["a.test", "b.test", "c.test", "d.test", "e.test"]
        var exits: [Int32] = []
        for name in names {
          let route = "\(name):\(origin.port):127.0.0.1"
          exits.append(try await Curl.run("--cacert", ca, "--resolve", route, origin.url(host: name)).exit)
        }
        #expect(exits == [0] + [Int32](repeating: Self.untrusted, count: 4))
        #expect(try await Curl.run("--cacert", ca, origin.url()).exit == 0, "the first one is for the address only")
        #expect(origin.requests.map(\.serverName) == ["a.test", nil])
        #expect(origin.connections.map(\.serverName) == names + [nil])
        #expect(origin.connections.map(\.version).last == .http2)
      }
    }
  }

  @Test(arguments: ["--http1.1", "--http2"])
  func `a client's certificate is required, checked and recorded`(flag: String) async throws {
    let authority = try TestCertificateAuthority()
    let configuration = FakeOriginConfiguration(
      identity: try authority.issue(names: [], addresses: [Self.loopback]), clientAuthority: authority.certificate)
    let good = try authority.issueClient(name: "ann")
    let bad = [
      try TestCertificateAuthority().issueClient(name: "eve"),
      try authority.issueClient(name: "old", validity: .expired),
      try authority.issue(names: ["server.test"]),
    ]
    let file = FileManager.default.temporaryDirectory.appending(component: "directdns-\(UUID().uuidString).pem")
    defer { try? FileManager.default.removeItem(at: file) }
    try await authority.withCAFile { ca async throws in
      try await withOrigin(configuration) { origin async throws in
        #expect(try await Curl.run(flag, "--cacert", ca, origin.url()).exit != 0)
        for identity in bad + [good] {
          try Data((identity.certificates[0] + "\n" + identity.privateKey).utf8).write(to: file)
          let reply = try await Curl.run(
            flag, "--cacert", ca, "--cert", file.path(percentEncoded: false), origin.url())
          #expect(reply.exit == 0 || identity != good)
          #expect(reply.exit != 0 || identity == good)
        }
        #expect(origin.requests.count == 1)
        let shown = try #require(origin.connections.last?.clientCertificate)
        #expect(shown.split(separator: "\n") == good.certificates[0].split(separator: "\n"))
      }
    }
  }

  @Test func `TLS 1.3 can be left out`() async throws {
    let authority = try TestCertificateAuthority()
    let identity = try authority.issue(names: [], addresses: [Self.loopback])
    try await authority.withCAFile { ca async throws in
      try await withOrigin(.init(identity: identity, offersTLS13: false)) { origin async throws in
        #expect(try await Curl.run("--cacert", ca, origin.url()).exit == 0)
        #expect(try await Curl.run("--tlsv1.3", "--cacert", ca, origin.url()).exit == Self.handshakeFailed)
      }
      try await withOrigin(.init(identity: identity)) { origin async throws in
        #expect(try await Curl.run("--tlsv1.3", "--cacert", ca, origin.url()).exit == 0)
      }
    }
  }

  @Test func `one port on several addresses is several origins`() async throws {
    try await withOrigin { first async throws in
      let two = FakeOriginConfiguration(address: .ipv4(0x7F00_0002), port: first.port)
      try await withOrigin(two) { second async throws in
        _ = try await Curl.run(first.url("/1"))
        _ = try await Curl.run(second.url("/2"))
        #expect(second.url() == "http://127.0.0.2:\(first.port)/")
        #expect(first.requests.map(\.path) == ["/1"] && second.requests.map(\.path) == ["/2"])
      }
    }
  }
}
