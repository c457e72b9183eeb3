// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Foundation

/// The command lines under EXAMPLES of every command's help, which are those of its manual page.
struct ManualExample: CustomStringConvertible {
  /// The command, as it is typed.
  var verb: String
  /// What stands there, over several lines where they end in a backslash.
  var command: String

  var description: String { command }

  private struct Help: Decodable {
    struct Command: Decodable {
      var commandName: String
      var discussion: String?
      var subcommands: [Command]?
    }
    var command: Command
  }

  /// All examples, in the order of the commands.
  static func all() async throws -> [ManualExample] {
    var examples: [ManualExample] = []
    for program in [Program.url.path, Program.url.path + "-proxy"] {
      let told = try await ServerFixture.run("bash", ["-c", "'\(program)' --experimental-dump-help"])
      collect(try JSONDecoder().decode(Help.self, from: told.output).command, into: &examples)
    }
    return examples
  }

  private static func collect(_ command: Help.Command, into examples: inout [ManualExample]) {
    let lines = (command.discussion ?? "").components(separatedBy: "\n")
    var isContinued = false
    for line in lines.drop(while: { $0 != "EXAMPLES" }).dropFirst().prefix(while: { $0.hasPrefix("  ") }) {
      let text = String(line.dropFirst(2))
      if isContinued {
        examples[examples.count - 1].command += "\n" + text
      } else {
        examples.append(ManualExample(verb: command.commandName, command: text))
      }
      isContinued = text.hasSuffix("\\")
    }
    for each in command.subcommands ?? [] { collect(each, into: &examples) }
  }
}

/// A machine on which the manual's examples can be run: their names lead to a server here, and their files are there.
final class ManualFixture {
  let page: PageFixture
  private let provider: FakeProvider
  /// `compare` wants two.
  private let second: FakeProvider
  private let origin: FakeOrigin
  private let authority: CAFile
  /// Where nobody listens yet.
  private let port: UInt16

  private static let sites = [
    "example.com", "www.example.com", "api.example.com", "api.example", "mirror.example", "a.example", "b.example",
    "shop.internal",
  ]

  init() async throws {
    let issuer = try TestCertificateAuthority()
    authority = try issuer.makeFile()
    port = try LoopbackPort.free()
    var records = RecordTable()
    for site in Self.sites { records.add(site, "127.0.0.1", ttl: 300) }
    for (name, type, bytes) in [
      ("example.com", DNSRecordType.mx, "\u{0}\u{A}\u{4}mail\u{7}example\u{3}com\u{0}"),
      ("example.com", .txt, "\u{5}words"), ("1.2.0.192.in-addr.arpa", .ptr, "\u{3}www\u{7}example\u{3}com\u{0}"),
    ] {
      guard let owner = DNSName(name) else { throw ServerFixture.Failure("\(name) is no name") }
      records.add(DNSRecord(owner: owner, type: type, ttl: 300, data: .opaque(Array(bytes.utf8))))
    }
    let identity = try issuer.issue(names: ["dns.example", "second.example"])
    provider = try await FakeProvider.start(records: records, configuration: .init(identity: identity))
    second = try await FakeProvider.start(records: records, configuration: .init(identity: identity))
    origin = try await FakeOrigin.start(configuration: .init(identity: try issuer.issue(names: Self.sites))) { _ in
      OriginResponse(body: "hello")
    }
    page = try await PageFixture()
    page.environment["DIRECTDNS_PROVIDERS"] =
      "https://dns.example:\(provider.port)/dns-query,https://second.example:\(second.port)/dns-query"
    page.environment["DIRECTDNS_BOOTSTRAP"] = "dns.example=127.0.0.1,second.example=127.0.0.1"
    page.environment["DIRECTDNS_SYSTEM"] = "false"
    page.environment["DIRECTDNS_CA"] = authority.path
    page.environment["CURL_CA_BUNDLE"] = authority.path
    page.environment["DIRECTDNS_STORE"] = "sqlite"
    try writeFiles()
    // Stores with something in them: the user's, and the one that stands for another machine's.
    for store in ["sqlite", "other.sqlite"] {
      _ = try await page.run("dnsctl warmup --hosts hosts.txt --store \(store)")
    }
  }

  func end() async {
    await page.end()
    await provider.stop()
    await second.stop()
    await origin.stop()
  }

  /// The files that the examples name, and programs that stand for those that no test can have.
  private func writeFiles() throws {
    // Names of .internal are the system's DNS's business, which is off here.
    let configuration = """
      { addressPolicy: { allow: ["127.0.0.0/8"] }, keepAlive: ["www.example.com"], pins: { "shop.internal": ["127.0.0.1"] } }
      """
    for (name, text) in [
      (".config/directdns/config.json5", configuration), ("pipeline.json5", configuration),
      ("names.txt", "www.example.com\napi.example.com\n"), ("hosts.txt", "www.example.com\napi.example.com\n"),
      ("report.pdf", "%PDF"), ("secrets.txt", "Authorization: Bearer x\n"), ("send.py", "print('sent')\n"),
      ("requests.jsonl", #"{"url":"http://www.example.com/"}"# + "\n"),
      ("responses.jsonl", #"{"originalUrl":"http://a.example/","address":"192.0.2.1","headers":[]}"# + "\n"),
      // htpasswd -B, of a password that nobody needs to know.
      ("users", "ada:$2y$04$A9Rq4YqXvjn0pOpNFBqg1Otm/NGmzMxndBQtxNkVN0nuwCPpFUF9m\n"),
      ("ours.pem", try String(contentsOf: URL(filePath: authority.path), encoding: .utf8)),
      // Another machine, and Java.
      ("bin/ssh", "#!/bin/sh\nshift\nexec \"$@\"\n"), ("bin/java", "#!/bin/sh\necho \"$@\"\n"),
    ] {
      try page.write(text, to: name)
      if name.hasPrefix("bin/") {
        try FileManager.default.setAttributes(
          [.posixPermissions: 0o755], ofItemAtPath: page.folder.appending(path: name).path)
      }
    }
    // Open to nobody else, as passwords want it.
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o600], ofItemAtPath: page.folder.appending(path: "users").path)
  }

  /// What is typed here in place of an example: ports of its own, no other machine, and an end.
  func command(_ example: ManualExample) -> String {
    var command = example.command
    for (text, here) in [
      ("@1.1.1.1", "@https://dns.example/dns-query"), ("@google", "@https://dns.example/dns-query"),
      ("dns.example=192.0.2.53", "dns.example=127.0.0.1"),
      ("dns.example/dns-query", "dns.example:\(provider.port)/dns-query"),
      ("redis://cache:6379", "other.sqlite"), ("redis://cache.example", "other.sqlite"),
      ("127.0.0.1:9464", "127.0.0.1:\(port)"), ("/etc/directdns/users", "users"), ("0.0.0.0:3128", "0.0.0.0:0"),
      ("jq .freshness.stale", "python3 -m json.tool"),
    ] { command.replace(text, with: here) }
    for site in Self.sites { command.replace("https://\(site)/", with: "https://\(site):\(origin.port)/") }
    switch (example.verb, example.command) {
    case ("watch", _): return command.contains("--count") ? command : command + " --count 1"
    case ("proxy", "dnsctl proxy"): return untilItServes("dnsctl proxy --listen 127.0.0.1:0")
    case ("proxy", _) where command.hasPrefix("dnsctl proxy"): return untilItServes(command)
    case (_, _) where command.contains("--keep-alive"): return untilItServes(command)
    case (_, _) where command.contains("--proxy http://127.0.0.1:3128"):
      command.replace(":3128", with: ":\(port)")
      return untilItServes("dnsctl proxy --listen 127.0.0.1:\(port)", then: command)
    default: return command
    }
  }

  /// Runs what goes on until it is told to end, and tells it when it serves.
  private func untilItServes(_ command: String, then other: String = "true") -> String {
    """
    : >said
    \(command) >said 2>&1 & server=$!
    while kill -0 $server 2>/dev/null && ! grep -qE '^complete|proxy at' said; do sleep 0.02; done
    \(other); status=$?
    kill -TERM $server; wait $server; ended=$?
    cat said; rm said
    [ $status = 0 ] || exit $status
    exit $ended
    """
  }
}
