// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

/// Every verb of `dnsctl`, as a process, many times: what goes wrong now and then, or in an optimised build alone.
@Suite("dnsctl as users run it", .timeLimit(.minutes(8)))
struct ProgramTests {
  /// How many times each command runs: what shows now and then is looked for in the build that users have.
  #if DEBUG
    static let runs = 5
  #else
    static let runs = 20
  #endif

  static let host = "www.example.test"

  /// One command, what it must end with, and a text that it must have written.
  struct Command: CustomTestStringConvertible, Sendable {
    var arguments: [String]
    var input = ""
    var status: Int32 = 0
    var says: String
    /// Whether it is told of the provider.
    var asks = true

    var testDescription: String { arguments.joined(separator: " ") }
  }

  private static let commands = [
    Command(arguments: ["--version"], says: "0.", asks: false),
    Command(arguments: ["--version", "--verbose"], says: "hiredis", asks: false),
    Command(arguments: ["version"], says: "0.", asks: false),
    Command(arguments: ["--help"], says: "SUBCOMMANDS", asks: false),
    Command(arguments: ["--generate-completion-script", "bash"], says: "complete", asks: false),
    Command(arguments: ["resolve", host, "127.0.0.1"], says: "127.0.0.1"),
    Command(arguments: ["resolve", "--format", "json", "-"], input: "\(host)\n", says: #""addresses":["127.0.0.1"]"#),
    Command(arguments: ["resolve", "-4", "--short", host], says: "127.0.0.1"),
    Command(arguments: ["resolve", "-t", "CNAME", "alias.example.test"], says: "www.example.test."),
    Command(arguments: ["resolve", "-x", "--json", "192.0.2.1"], status: 1, says: #""type":"PTR""#),
    Command(arguments: ["compare", "@doh+DNSURL", host], says: "They agree."),
    Command(arguments: ["resolve", "--trace", "none.example.test"], status: 1, says: "does not exist"),
    Command(arguments: ["resolve", "--store", "new.sqlite", host], says: "127.0.0.1"),
    Command(arguments: ["rewrite", "--allow", "127.0.0.0/8", "http://\(host)/"], says: "http://127.0.0.1/"),
    Command(
      arguments: ["rewrite", "--allow", "127.0.0.0/8", "-"], input: #"{"url":"http://www.example.test/a"}"#,
      says: "http:"),
    Command(
      arguments: ["restore"],
      input: #"{"originalUrl":"http://www.example.test/","address":"192.0.2.1","status":302,"#
        + #""headers":[["Location","http://192.0.2.1/next"]]}"#, says: "www.example.test", asks: false),
    Command(arguments: ["fetch", "--allow", "127.0.0.0/8", "http://\(host):PORT/hello"], says: "hello"),
    Command(arguments: ["fetch", "--allow", "127.0.0.0/8", "-v", "http://\(host):PORT/moved"], says: "hello"),
    Command(
      arguments: ["fetch", "--allow", "127.0.0.0/8", "-o", "body", "-c", "jar", "http://\(host):PORT/hello"],
      says: ""),
    Command(
      arguments: ["fetch", "-Z"] + ["a", "b", "c"].map { "http://\(host):PORT/\($0)" } + ["--allow", "127.0.0.0/8"],
      says: "hello"),
    Command(arguments: ["fetch", "http://\(host):PORT/"], status: 3, says: "127.0.0.0/8"),
    Command(arguments: ["warmup", "--store", "warm.sqlite", host, "api.example.test"], says: "2 of 2"),
    Command(arguments: ["check", "--name", host], says: "All is well."),
    Command(arguments: ["check", "--name", host, "--format", "json"], says: #""grade":"ok""#),
    Command(arguments: ["watch", "--count", "1", host], says: host),
    Command(arguments: ["cache", "refresh", "--store", "kept.sqlite", host], says: "127.0.0.1"),
    Command(arguments: ["cache", "list", "--store", "kept.sqlite"], says: host, asks: false),
    Command(arguments: ["cache", "show", "--store", "kept.sqlite", host], says: "127.0.0.1", asks: false),
    Command(arguments: ["cache", "stats", "--store", "kept.sqlite"], says: "1", asks: false),
    Command(arguments: ["cache", "export", "--store", "kept.sqlite"], says: host, asks: false),
    Command(arguments: ["cache", "export", "--store", "kept.sqlite", "export.jsonl"], says: "", asks: false),
    Command(arguments: ["cache", "import", "--store", "other.sqlite", "export.jsonl"], says: "", asks: false),
    Command(
      arguments: ["cache", "forget", "--store", "other.sqlite", "none.example.test"], status: 1,
      says: "none.example.test", asks: false),
    Command(arguments: ["cache", "clear", "--store", "new.sqlite", "--yes"], says: "", asks: false),
    Command(arguments: ["resolve"], status: 64, says: "Usage", asks: false),
  ]

  @Test func `every verb does its work, each time`() async throws {
    var records = RecordTable()
    for name in [Self.host, "api.example.test"] { records.add(name, "127.0.0.1", ttl: 300) }
    records.alias("alias.example.test", to: Self.host)
    let provider = try await FakeProvider.start(records: records)
    let origin = try await FakeOrigin.start { request in
      guard request.path == "/moved" else { return OriginResponse(body: "hello\n") }
      return OriginResponse(.found, fields: [.location: "/hello"])
    }
    let program = try Program()
    let upstream = ["--provider", "json+\(provider.url("/resolve"))", "--no-system"]
    for command in Self.commands {
      let arguments = command.arguments.map {
        $0.replacing("PORT", with: "\(origin.port)").replacing("DNSURL", with: provider.url("/dns-query"))
      }
      for run in 1...Self.runs {
        let outcome = try await program.run(
          command.asks ? [arguments[0]] + arguments.dropFirst() + upstream : arguments, input: command.input)
        let isRight =
          outcome.status == command.status && (command.says.isEmpty || outcome.description.contains(command.says))
        #expect(isRight, "\(command.testDescription), run \(run): \(outcome)")
        // More of the same would say no more.
        guard isRight else { break }
      }
    }
    await provider.stop()
    await origin.stop()
  }

  @Test(arguments: ["0", "-1", "26", "-9223372036854775808"])
  func `help is there in a terminal of few columns, or none`(_ columns: String) async throws {
    let result = try await ServerFixture.run(
      "sh", ["-c", "COLUMNS=\(columns) \"$0\" resolve --help", Program.url.path])
    let text = String(decoding: result.output, as: UTF8.self)
    #expect(result.status == 0 && text.contains("decimals"), "\(text)")
  }

  @Test func `what is said goes nowhere when standard error is closed, and not into a file`() async throws {
    let origin = try await FakeOrigin.start { _ in OriginResponse(body: "hello\n") }
    let script = #"cd "$1" && "$0" fetch -v -o body --allow 127.0.0.0/8 "$2" <&- >&- 2>&-; echo $?; cat body"#
    let folder = try ServerFixture.newFolder("closed").path
    let url = "http://127.0.0.1:\(origin.port)/"
    let result = try await ServerFixture.run("sh", ["-c", script, Program.url.path, folder, url])
    #expect(String(decoding: result.output, as: UTF8.self) == "0\nhello\n")
    await origin.stop()
  }

  @Test(arguments: [
    ("resolve - <&-", 74, "Bad file descriptor"), ("version >&-", 74, "Bad file descriptor"),
    ("--version >/dev/full", 74, "No space left"), ("fetch --help >/dev/full", 74, "No space left"),
    ("--generate-completion-script bash >/dev/full", 74, "No space left"),
    (#"fetch -d "$(printf 'caf\351')" http://127.0.0.1/"#, 64, "argument 3 is not UTF-8"),
    (#"resolve "$(printf 'caf\351')""#, 64, "argument 2 is not UTF-8"),
    (
      "fetch -e / http://127.0.0.1/", 64,
      "dnsctl: curl's -e is not offered: -H 'Referer: …'. See dnsctl fetch --help.\n"
    ),
    ("resolve --nameserver ::1 a.example", 64, "@SERVER"),
    ("resolve --bogus a.example", 64, "Unknown option '--bogus'"),
  ])
  func `a stream that is closed and words that cannot be taken are told`(
    _ command: String, _ status: Int32, _ words: String
  ) async throws {
    let result = try await ServerFixture.run("sh", ["-c", "{ \"$0\" \(command); } 2>&1", Program.url.path])
    let text = String(decoding: result.output, as: UTF8.self)
    #expect(result.status == status && text.contains(words), "\(result.status) \(text)")
  }

  @Test(arguments: ["-o", "-D", "-c"])
  func `a descriptor that the caller has not opened is none to write to, whatever it is here`(_ option: String)
    async throws
  {
    let origin = try await FakeOrigin.start { _ in OriginResponse(fields: [.setCookie: "a=b"], body: "body\n") }
    let script = """
      for n in $(seq 3 20); do eval "exec $n>&-"; done
      for n in $(seq 3 20); do
        "$0" fetch -s --no-system --allow 127.0.0.0/8 --store "$1/store" "$2" \(option) /dev/fd/$n > /dev/null; echo $?
      done
      """
    let folder = try ServerFixture.newFolder("descriptors").path
    let url = "http://127.0.0.1:\(origin.port)/"
    let result = try await ServerFixture.run("bash", ["-c", script, Program.url.path, folder, url])
    #expect(String(decoding: result.output, as: UTF8.self) == String(repeating: "74\n", count: 18))
    await origin.stop()
  }

  @Test(arguments: [
    ("-o /dev/stdout >> out", "old\nbody\n"), ("-o /dev/stdout -w 'code\\n' > out", "body\ncode\n"),
    ("-o /dev/fd/1 -w 'code\\n' >> out", "old\nbody\ncode\n"),
    ("-o /proc/self/fd/7 7>> out", "old\nbody\n"), ("-o /dev/stderr 2>> out", "old\nbody\n"),
    ("-D /dev/stderr -o /dev/null 2>> out", "old\nHTTP/1.1 200 OK"),
    ("-i -c /dev/stdout > out", "HTTP/1.1 200 OK"), ("-c /dev/stdout >> out", "old\nbody\n# Netscape HTTP Cookie File"),
    ("-o /dev/stdout | cat >> out", "old\nbody\n"),
  ])
  func `a name of an own stream is that stream: nothing in its file is lost`(
    _ words: String, _ beginning: String
  ) async throws {
    let origin = try await FakeOrigin.start { _ in OriginResponse(fields: [.setCookie: "a=b"], body: "body\n") }
    let script = """
      cd "$1" && printf 'old\\n' > out && chmod 640 out
      "$0" fetch --no-system --allow 127.0.0.0/8 "$2" \(words)
      echo $? $(stat -c %a out 2>/dev/null || stat -f %Lp out); cat out
      """
    let folder = try ServerFixture.newFolder("streams").path
    let url = "http://127.0.0.1:\(origin.port)/"
    let result = try await ServerFixture.run("sh", ["-c", script, Program.url.path, folder, url])
    let text = String(decoding: result.output, as: UTF8.self).replacing("\r\n", with: "\n")
    #expect(text.hasPrefix("0 640\n" + beginning), "\(text)")
    if words.hasPrefix("-i") { #expect(text.contains("\n\nbody\n# Netscape HTTP Cookie File"), "\(text)") }
    await origin.stop()
  }
}
