// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation
import Testing

/// The cookie file between the library, curl and wget: each reads what the others wrote.
@Suite("The cookie file", .enabled(if: NginxCookies.missing.isEmpty, "not every program is installed"))
struct CookieFileTests {
  private static let fields = [
    "host=1", "domain=2; Domain=lab.test", "path=3; Path=/shop", "safe=4; Secure; HttpOnly", "age=5; Max-Age=60",
    "empty=", "other=6; Path=/elsewhere",
  ]

  private func filledJar(_ server: NginxCookies) throws -> CookieJar {
    let jar = CookieJar()
    jar.store(setCookie: Self.fields, for: try WebURL("https://\(server.host)/"))
    return jar
  }

  private func newFile() throws -> NetscapeCookieFile {
    NetscapeCookieFile(path: try ServerFixture.newFolder("cookies").appending(path: "jar").path)
  }

  private func curl(_ server: NginxCookies, _ path: String, _ options: [String]) async throws -> String {
    let (status, output) = try await ServerFixture.run(
      "curl",
      [
        "--silent", "--fail", "--noproxy", "*", "--max-time", "20", "--cacert", server.caFile, "--resolve",
        "\(server.host):\(server.port):127.0.0.1", "https://\(server.host):\(server.port)\(path)",
      ] + options)
    #expect(status == 0)
    return String(decoding: output, as: UTF8.self)
  }

  private func wget(_ server: NginxCookies, _ path: String, _ options: [String]) async throws -> String {
    let (status, output) = try await ServerFixture.run(
      "wget",
      [
        "--no-config", "--quiet", "--tries=1", "--timeout=20", "-O", "-", "-e", "use_proxy=yes", "-e",
        "http_proxy=http://127.0.0.1:\(server.httpPort)/", "http://\(server.host)\(path)",
      ] + options)
    #expect(status == 0)
    return String(decoding: output, as: UTF8.self)
  }

  /// The cookies of a `Cookie` field; programs order equal paths as they like.
  private func pairs(_ field: String?) -> Set<String> {
    Set((field ?? "").split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) })
  }

  @Test func `curl sends the cookies of our file as we would`() async throws {
    try await NginxCookies.running { server in
      let jar = try filledJar(server)
      let file = try newFile()
      #expect(try jar.save(to: file) == [])
      for path in ["/", "/shop/x"] {
        let own = jar.cookieHeader(for: try WebURL("https://\(server.host):\(server.port)\(path)"))
        #expect(pairs(own).count == (path == "/" ? 5 : 6))
        #expect(pairs(try await curl(server, path, ["-b", file.path])) == pairs(own))
      }
    }
  }

  @Test func `we send the cookies of curl's file as curl would`() async throws {
    try await NginxCookies.running { server in
      let file = try newFile()
      _ = try await curl(server, "/set", ["-c", file.path])
      let jar = CookieJar()
      #expect(try jar.load(file) == [])
      #expect(jar.cookies.count == 5)
      #expect(jar.cookies.filter(\.isHTTPOnly).map(\.name) == ["age"])
      #expect(jar.cookies.filter { !$0.isHostOnly }.map(\.name) == ["domain"])
      for path in ["/", "/shop/x"] {
        let own = jar.cookieHeader(for: try WebURL("https://\(server.host):\(server.port)\(path)"))
        #expect(pairs(try await curl(server, path, ["-b", file.path])) == pairs(own))
      }
    }
  }

  @Test func `wget sends the cookies of our file as we would`() async throws {
    try await NginxCookies.running { server in
      let jar = try filledJar(server)
      let file = try newFile()
      try jar.save(to: file)
      for path in ["/", "/shop/x"] {
        let own = jar.cookieHeader(for: try WebURL("http://\(server.host)\(path)"))
        #expect(pairs(try await wget(server, path, ["--load-cookies", file.path])) == pairs(own))
      }
    }
  }

  @Test func `we send the cookies of wget's file as wget would`() async throws {
    try await NginxCookies.running { server in
      let file = try newFile()
      _ = try await wget(server, "/set", ["--save-cookies", file.path, "--keep-session-cookies"])
      let jar = CookieJar()
      #expect(try jar.load(file) == [])
      #expect(jar.cookies.count >= 4)
      for path in ["/", "/shop/x"] {
        let own = jar.cookieHeader(for: try WebURL("http://\(server.host)\(path)"))
        #expect(pairs(try await wget(server, path, ["--load-cookies", file.path])) == pairs(own))
      }
    }
  }
}
