// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import Testing

/// The web servers themselves, asked by curl: what the tests of the client stand on.
@Suite(
  "The web servers", .enabled(if: WebKind.missing.isEmpty, "not every program is installed"), .timeLimit(.minutes(1)))
struct WebServerTests {
  /// curl's exit status for a certificate that does not verify.
  private static let untrusted: Int32 = 60

  private func curl(_ server: some WebServer, _ options: [String]) async throws -> (status: Int32, text: String) {
    let names = [
      LabSite.www, LabSite.api, LabSite.mistaken, LabSite.expired, LabSite.selfSigned, LabSite.byAddress,
    ]
    let routes = names.flatMap { ["--connect-to", "\($0)::127.0.0.1:"] }
    let (status, output) = try await ServerFixture.run(
      "curl", ["--silent", "--noproxy", "*", "--max-time", "30", "--cacert", server.caFile] + routes + options)
    return (status, String(decoding: output, as: UTF8.self))
  }

  @Test(arguments: WebKind.allCases)
  func `each name is served, by http and by both versions of https`(_ kind: WebKind) async throws {
    try await servesNames(kind.server)
  }

  private func servesNames<Server: WebServer>(_ kind: Server.Type) async throws {
    try await kind.running { server async throws in
      // A server of several threads notes them in any order: the next one goes out when this one stands there.
      var lines: [AccessLogLine] = []
      for name in [LabSite.www, LabSite.api] {
        let secure = "https://\(name):\(server.port)/name?q"
        for words in [["http://\(name):\(server.httpPort)/name"], ["--http2", secure], ["--http1.1", secure]] {
          #expect(try await curl(server, words) == (0, name))
          lines = try await server.requests(lines.count + 1)
        }
      }
      #expect(lines.map(\.host) == [LabSite.www, LabSite.api].flatMap { [$0, $0, $0] })
      #expect(lines.map(\.version) == ["HTTP/1.1", "HTTP/2.0", "HTTP/1.1", "HTTP/1.1", "HTTP/2.0", "HTTP/1.1"])
      #expect(lines.map(\.target).prefix(3) == ["/name", "/name?q", "/name?q"])
      #expect(lines.allSatisfy { $0.method == "GET" && $0.status == 200 && $0.address == "127.0.0.1" })
      #expect(lines.allSatisfy { $0.clientPort > 0 && $0.cookie == "-" })
    }
  }

  @Test(arguments: WebKind.allCases)
  func `it is reached by IPv6 and by address`(_ kind: WebKind) async throws {
    try await servesAddresses(kind.server)
  }

  private func servesAddresses<Server: WebServer>(_ kind: Server.Type) async throws {
    try await kind.running { server async throws in
      var lines: [AccessLogLine] = []
      for host in ["127.0.0.1", "[::1]"] {
        for url in ["https://\(host):\(server.port)/name", "http://\(host):\(server.httpPort)/name"] {
          #expect(try await curl(server, [url]) == (0, LabSite.byAddress))
          lines = try await server.requests(lines.count + 1)
        }
      }
      #expect(lines.map(\.address) == ["127.0.0.1", "127.0.0.1", "::1", "::1"])
    }
  }

  @Test(arguments: WebKind.allCases)
  func `the wrong certificates are refused`(_ kind: WebKind) async throws {
    try await refusesCertificates(kind.server)
  }

  private func refusesCertificates<Server: WebServer>(_ kind: Server.Type) async throws {
    try await kind.running { server async throws in
      for name in [LabSite.mistaken, LabSite.expired, LabSite.selfSigned, LabSite.byAddress] {
        let reply = try await curl(server, ["https://\(name):\(server.port)/name"])
        #expect(reply == (Self.untrusted, ""))
      }
    }
  }

  @Test(arguments: WebKind.allCases)
  func `redirects are answered, and cookies set and written down`(_ kind: WebKind) async throws {
    try await answers(kind.server)
  }

  private func answers<Server: WebServer>(_ kind: Server.Type) async throws {
    try await kind.running { server async throws in
      let base = "https://\(LabSite.www):\(server.port)"
      let moved = try await curl(server, ["-w", "%{http_code} %{redirect_url}", "-o", "/dev/null", base + "/moved"])
      #expect(moved == (0, "302 \(base)/name"))
      _ = try await server.requests(1)
      let cookies = try await curl(server, ["-b", "", "-D", "-", "-o", "/dev/null", base + "/cookies"]).text
      let fields = cookies.lowercased().split(separator: "\r\n").filter { $0.hasPrefix("set-cookie:") }
      #expect(fields == ["set-cookie: a=1; path=/", "set-cookie: b=2; path=/"])
      _ = try await server.requests(2)
      _ = try await curl(server, ["-H", "Cookie: a=1; b=2", base + "/name"])
      #expect(try await server.requests(3).map(\.cookie) == ["-", "-", "a=1; b=2"])
      #expect(try await server.requests(3).map(\.status) == [302, 200, 200])
    }
  }

  @Test(arguments: WebKind.allCases)
  func `a big body goes down, and another one up`(_ kind: WebKind) async throws {
    try await carries(kind.server)
  }

  private func carries<Server: WebServer>(_ kind: Server.Type) async throws {
    try await kind.running { server async throws in
      let base = "https://\(LabSite.www):\(server.port)"
      let body = try ServerFixture.newFolder("upload").appending(path: "body")
      let bytes = GeneratedBody.bytes(3_000_000)
      try Data(bytes).write(to: body)
      for flag in ["--http1.1", "--http2"] {
        let head = try await curl(server, [flag, "-I", base + "/big"]).text
        #expect(head.lowercased().contains("content-length: \(LabSite.bigCount)\r\n"))
        let part = try await curl(
          server, [flag, "-r", "0-49999999", "-w", "%{size_download}", "-o", "/dev/null", base + "/big"])
        #expect(part == (0, "50000000"))
        let (status, text) = try await curl(server, [flag, "-T", body.path, base + "/sink/x\(flag)"])
        #expect(status == 0)
        if let nginx = server as? NginxSite {
          #expect(try Data(contentsOf: nginx.uploads.appending(path: "x\(flag)")) == Data(bytes))
        } else {
          #expect(text == "\(GeneratedBody.hash(ofFirst: bytes.count))\n")
        }
      }
    }
  }

  @Test(arguments: WebKind.allCases)
  func `it can be killed, started again and paused`(_ kind: WebKind) async throws {
    try await isKilled(kind.server)
  }

  private func isKilled<Server: WebServer>(_ kind: Server.Type) async throws {
    try await kind.running { server async throws in
      let url = "https://\(LabSite.www):\(server.port)/name"
      try await server.kill()
      #expect(try await curl(server, [url]).status == Curl.refused)
      try await server.start()
      try await server.pause()
      #expect(try await curl(server, ["--max-time", "0.3", url]).status == Curl.timedOut)
      await server.resume()
      #expect(try await curl(server, [url]) == (0, LabSite.www))
    }
  }
}
