// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// How a running proxy follows its configuration file.
extension ProxyProgramTests {
  @Test func `a file of which the proxy can use only a part changes nothing`() async throws {
    let file = try ServerFixture.newFolder("followed").appending(path: "configuration")
    func write(_ policy: String, _ routes: String = "") throws {
      let text = "{ addressPolicy: { allow: ['127.0.0.0/8'], \(policy) }, pins: { 'a.test': ['127.0.0.1'] \(routes)"
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    try write("", "} }")
    try await running(["--config", file.path]) { port, lines in
      let proxy = "http://127.0.0.1:\(port)"
      #expect(try await status(proxy, of: "a.test") == "502")
      try write("deny: ['a.test']", ", 'new.test': ['127.0.0.1'] }, proxy: { routes: { 'b.test': 'upstream' } } }")
      try await becomes { try lines().contains { $0.contains("The previous configuration stays in force.") } }
      // The file itself is named, and nothing is said to have changed.
      let refusal = try lines().first { $0.contains("The previous configuration") } ?? ""
      #expect(refusal.contains(file.path) && refusal.contains("no upstream proxy"), "\(refusal)")
      let said = try lines()
      #expect(!said.contains { $0.hasPrefix("dnsctl: configuration: ") }, "\(said)")
      #expect(try await status(proxy, of: "a.test") == "502")
      // Whoever saw that is told when the file is as before.
      try write("", "} }")
      try await becomes { try lines().contains { $0.contains("configuration: the file can be used again") } }
      try write("deny: ['a.test']", "} }")
      try await becomes { try await status(proxy, of: "a.test") == "403" }
    }
  }

  @Test func `a program's own proxy follows the file, too`() async throws {
    let file = try ServerFixture.newFolder("followed").appending(path: "configuration")
    try "{ addressPolicy: { allow: ['127.0.0.0/8'] } }".write(to: file, atomically: true, encoding: .utf8)
    let script = """
      ask() { curl -sS -o /dev/null -w '%{http_code} ' http://127.0.0.1:\(try LoopbackPort.free())/; }
      ask
      echo '{ addressPolicy: { allow: [] } }' > '\(file.path).new' && mv '\(file.path).new' '\(file.path)'
      tries=0; while [ "$(ask)" = '502 ' ] && [ $tries -lt 3000 ]; do tries=$((tries + 1)); done
      ask
      """
    let result = try await Program().run(["exec", "--no-system", "--config", file.path, "--", "sh", "-c", script])
    #expect(result.status == 0 && result.output == "502 403 ", "\(result)")
    #expect(result.errors.contains("configuration: addressPolicy"), "\(result)")
  }
}
