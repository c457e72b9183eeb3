// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// What a running proxy tells of itself, as its options say.
extension ProxyProgramTests {
  @Test(
    arguments: [
      (["--access-log", "json"], [#""status":403"#], ["/path", "/live", "query"]),
      (["--access-log", "json", "--log-paths"], [#""path":"/path""#], ["/live", "query"]),
      (["--access-log", "json", "--log-probes", "--log-paths"], [#""path":"/path""#, #""path":"/live""#], ["query"]),
      (["--access-log", "combined"], [#""GET 10.0.0.1:80 HTTP/1.1" 403"#], ["/path", "/live", "query"]),
      ([], [], ["10.0.0.1"]),
    ] as [([String], [String], [String])])
  func `the access log has what its options say`(options: [String], has: [String], hasNot: [String]) async throws {
    let lines = try await running(options) { port, lines in
      for target in ["/live", "http://10.0.0.1/path?query"] {
        let proxy = target.hasPrefix("/") ? [] : ["-x", "http://127.0.0.1:\(port)"]
        let url = target.hasPrefix("/") ? "http://127.0.0.1:\(port)\(target)" : target
        _ = try await ServerFixture.run("curl", ["-sS", "-o", "/dev/null", "--noproxy", ""] + proxy + [url])
      }
      try await becomes { has.allSatisfy(try lines().joined(separator: "\n").contains) }
    }
    let text = lines.joined(separator: "\n")
    for part in hasNot { #expect(!text.contains(part), "\(text)") }
  }

  @Test(arguments: [(["--serve-metrics"], true), ([], false)] as [([String], Bool)])
  func `its own page of metrics is there where it was asked for, with what begins at 0`(
    options: [String], isThere: Bool
  ) async throws {
    try await running(options) { port, _ in
      var text = ""
      // Whoever looked whether it listens may be its client for a moment longer.
      try await becomes {
        let result = try await ServerFixture.run("curl", ["-sS", "--noproxy", "*", "http://127.0.0.1:\(port)/metrics"])
        text = String(decoding: result.output, as: UTF8.self)
        return !isThere || text.contains("directdns_proxy_clients 1\n")
      }
      for line in ["directdns_proxy_clients 1", "directdns_proxy_tunnels 0", "directdns_proxy_retries_total 0"] {
        #expect(text.contains("\(line)\n") == isThere, "\(text)")
      }
    }
  }
}
