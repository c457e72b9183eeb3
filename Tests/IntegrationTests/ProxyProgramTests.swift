// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// `dnsctl proxy` and `dnsctl exec` as their users run them.
@Suite(.timeLimit(.minutes(2)))
struct ProxyProgramTests {
  private static let runs: [([String], Int32)] = [
    (["exec", "--", "sh", "-c", "exit 7"], 7), (["exec", "--", "sh", "-c", "kill -9 $$"], 137),
    (["exec", "--", "sh", "-c", "test -n \"$http_proxy$https_proxy\""], 0), (["exec", "--", "no-such-program"], 127),
    (["exec", "--", "/"], 126), (["exec"], 64), (["exec", "--no-such-option"], 64),
    (["exec", "--ports", "x", "--", "true"], 64),
    (["proxy", "--listen", "127.0.0.1:0", "--peer-uid", "0"], 64),
    (["proxy", "--peer-uid", "root"], 64), (["proxy", "--listen", "0.0.0.0:0"], 64),
    (["proxy", "--listen", "nowhere"], 64),
    (["proxy", "--users", "/no/such"], 74),
    (["proxy", "--token", "plain-on-the-command-line"], 64), (["proxy", "--log-paths"], 64),
    (["proxy", "--listen", "unix:/no/such/folder/socket"], 74), (["proxy", "--help"], 0), (["exec", "--help"], 0),
    (["exec", "--version"], 0), (["exec", "--version", "--", "false"], 0), (["exec", "--", ""], 127),
    (["exec", "--java", "sh", "-c", "exit 7"], 7), (["exec", "--store=", "--", "true"], 64),
    (["exec", "--java=", "--", "true"], 64),
    (["exec", "--", "sh", "-c", "test \"$1\" = --store=", "sh", "--store="], 0),
  ]

  @Test(arguments: runs)
  func `a status tells what became of it`(arguments: [String], status: Int32) async throws {
    #expect(try await Program().run(arguments).status == status)
  }

  @Test func `a program gets as many arguments as there are, and soon`() async throws {
    let words = (1...20_000).map(String.init)
    let result = try await Program().run(["exec", "--", "sh", "-c", "echo $# ${20000}", "sh"] + words)
    #expect(result.status == 0 && result.output == "20000 20000\n", "\(result.errors)")
  }

  @Test func `a program's requests go through the proxy, which judges where they go`() async throws {
    let result = try await Program().run([
      "exec", "--no-system", "--", "curl", "-sS", "-w", "%{http_code}\n", "http://169.254.169.254/",
      "http://localhost/",
    ])
    #expect(result.output.components(separatedBy: "\n403").count == 3)
    #expect(result.output.contains("Link Local"))
  }

  @Test(arguments: [("HUP", 129), ("INT", -2), ("TERM", 143), ("USR1", 138), ("ALRM", 142)] as [(String, Int32)])
  func `a signal goes to the program, whose end it is`(name: String, status: Int32) async throws {
    // It signals the process that started it, which passes that on; without that it would end with 0. Of an interrupt
    // it dies itself: shells end a loop for that alone.
    let script = "kill -\(name) $PPID; exec sleep 20"
    #expect(try await Program().run(["exec", "--", "sh", "-c", script]).status == status)
  }

  @Test func `a program runs at the priority that it was started with`() async throws {
    let result = try await ServerFixture.run("nice", ["-n", "5", Program.url.path, "exec", "--", "nice"])
    let own = try await ServerFixture.run("nice", ["-n", "5", "nice"])
    #expect(result.output == own.output && !own.output.isEmpty, "\(String(decoding: result.output, as: UTF8.self))")
  }

  @Test func `what whoever started it ignores, the program ignores too`() async throws {
    let script = "trap '' HUP; exec \(Program.url.path) exec -- sh -c 'kill -HUP $$; exit 5'"
    let result = try await ServerFixture.run("sh", ["-c", script])
    #expect(result.status == 5)
  }

  @Test func `a program gets its arguments and variables byte for byte`() async throws {
    let script = """
      word=$(printf 'caf\\351'); odd=$word; export odd
      "$0" exec -- sh -c 'printf "%s %s" "$1" "$odd"' sh "$word" | od -An -tx1 | tr -d ' \\n'
      """
    let result = try await ServerFixture.run("sh", ["-c", script, Program.url.path])
    let output = String(decoding: result.output, as: UTF8.self)
    #expect(output == "636166e920636166e9", "\(output)")
  }

  @Test func `a program gets the descriptors that its starter meant for it, and none of the proxy's`() async throws {
    // What this test's own process hands on stands in both lists.
    let script = """
      exec 7</dev/null
      show='for place in /proc/$$/fd/*; do echo "${place##*/} $(readlink "$place")"; done'
      sh -c "$show"; echo --; for run in $(seq 20); do "$0" exec -- sh -c "$show"; done
      """
    let result = try await ServerFixture.run("sh", ["-c", script, Program.url.path])
    let lists = String(decoding: result.output, as: UTF8.self).components(separatedBy: "--\n")
    let (before, lines) = (lists[0].split(separator: "\n"), lists.last?.split(separator: "\n") ?? [])
    #expect(lists.count == 2 && lines.contains("7 /dev/null"), "\(lines)")
    let added = lines.filter { !before.contains($0) && !$0.contains("pipe:") }
    #expect(added == [], "\(before)")
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func `a shell completes the options of the proxy's verbs, and all others`(shell: String) async throws {
    let script = try await Program().run(["--generate-completion-script", shell])
    #expect(script.status == 0 && script.errors == "")
    for option in ["peer-uid", "access-log", "java", "bootstrap", "keep-alive"] {
      #expect(script.output.contains(option), "\(option)")
    }
    if ServerFixture.path(of: shell) == nil { try Test.cancel("\(shell) is not installed, and reads no script") }
    let file = try ServerFixture.newFolder("completions").appending(path: shell)
    try script.output.write(to: file, atomically: false, encoding: .utf8)
    #expect(try await ServerFixture.run(shell, ["-n", file.path]).status == 0)
  }

  @Test func `a secret that must not stand on a command line is not taken from it`() async throws {
    let result = try await Program().run(["proxy", "--token", "0123456789abcdef"])
    #expect(result.errors.contains("--token: write @FILE"))
    #expect(!result.errors.contains("0123456789abcdef"))
  }

  @Test(.enabled(if: WebKind.missing.isEmpty, "not every program is installed"))
  func `a proxy is checked: whether it is there, reaches a name and refuses what lies inside`() async throws {
    try await ProxyProgramFixture.running { fixture in
      // Nobody listens at port 443 of the name, which is told as that.
      try await fixture.withProxy([]) { port in
        let check = ["check", "--proxy", "127.0.0.1:\(port)", "--format", "json"]
        let reached = try await Program().run(check + ["--name", LabSite.www])
        #expect(reached.status == 2, "\(reached)")
        #expect(reached.output.contains(#""grade":"ok","detail":"127.0.0.1:\#(port) is ready"#), "\(reached)")
        #expect(reached.output.contains("connection_refused"), "\(reached)")
        #expect(reached.output.contains("169.254.169.254:80 is refused"), "\(reached)")
        let unknown = try await Program().run(check + ["--name", ProxyProgramFixture.unknown])
        #expect(unknown.output.contains("dns_error"), "\(unknown)")
      }
      let users = fixture.place
      let hash = try await fixture.run(["openssl", "passwd", "-6", "geheim"]).output
      try "ada:\(hash)".write(to: users, atomically: false, encoding: .utf8)
      try await fixture.withProxy(["--users", users.path]) { port in
        let check = ["check", "--proxy", "http://127.0.0.1:\(port)"]
        #expect(try await Program().run(check).output.contains("--proxy-user @FILE"))
        let known = fixture.place
        try "ada:geheim\n".write(to: known, atomically: false, encoding: .utf8)
        let outcome = try await Program().run(check + ["--proxy-user", "@\(known.path)"])
        #expect(outcome.output.contains("169.254.169.254:80 is refused"), "\(outcome)")
      }
      let nobody = try await Program().run(["check", "--proxy", "127.0.0.1:\(try LoopbackPort.free())"])
      #expect(nobody.status == 2 && nobody.output.contains("connection refused"), "\(nobody)")
      #expect(try await Program().run(["check", "--proxy", "http://a:b@127.0.0.1:1"]).status == 64)
      #expect(try await Program().run(["check", "--proxy-user", "a:b"]).status == 64)
    }
  }

  @Test(.enabled(if: WebKind.missing.isEmpty, "not every program is installed"))
  func `who may use it is read again with the configuration, and a file that is of no use changes nothing`()
    async throws
  {
    try await ProxyProgramFixture.running { fixture in
      let (users, configuration, folder) = (fixture.place, fixture.place, try ServerFixture.newFolder("proxy"))
      func allow(_ line: String, _ comment: Int) throws {
        try line.write(to: users, atomically: true, encoding: .utf8)
        try "{ } // \(comment)\n".write(to: configuration, atomically: true, encoding: .utf8)
      }
      let hash = try await fixture.run(["openssl", "passwd", "-6", "geheim"]).output
      try allow("ada:\(hash)", 1)
      try await fixture.withProxy(["--users", users.path, "--config", configuration.path], in: folder) { port in
        func status(_ name: String) async throws -> String {
          try await fixture.run([
            "curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "-x", "http://\(name):geheim@127.0.0.1:\(port)",
            "\(fixture.plain)/name",
          ]).output
        }
        #expect(try await status("ada") == "200")
        #expect(try await status("bob") == "407")
        try allow("no line of such a file\n", 22)
        try await becomes {
          try String(contentsOf: folder.appending(path: "log"), encoding: .utf8).contains(
            "htpasswd -B. The previous users stay in force.")
        }
        #expect(try await status("ada") == "200")
        try allow("bob:\(hash)", 333)
        try await becomes { try await status("bob") == "200" }
        #expect(try await status("ada") == "407")
      }
    }
  }

  /// Runs a proxy at a free port, whose lines come into a file, while `body` asks it.
  ///
  /// - Returns: all of its lines. It has ended: what is not among them it has not said.
  @discardableResult
  func running(
    _ options: [String], environment: [String] = [],
    _ body: (UInt16, _ lines: @escaping () throws -> [String]) async throws -> Void
  ) async throws -> [String] {
    let (folder, port) = (try ServerFixture.newFolder("proxy"), try LoopbackPort.free())
    let words = [Program.url.path, "proxy", "--listen", "127.0.0.1:\(port)", "--no-system"] + options
    let proxy = ServerProcess(program: "/usr/bin/env", arguments: environment + words, folder: folder, ports: [port])
    func lines() throws -> [String] {
      try String(contentsOf: folder.appending(path: "log"), encoding: .utf8).components(separatedBy: "\n")
    }
    try await proxy.start()
    let result: Swift.Result<Void, any Error>
    do { result = .success(try await body(port, lines)) } catch { result = .failure(error) }
    try await proxy.stop()
    try result.get()
    return try lines()
  }

  /// What a proxy answers to a request for a port of this machine where nobody listens.
  func status(_ proxy: String, of host: String = "127.0.0.1") async throws -> String {
    let target = "http://\(host):\(try LoopbackPort.free())/"
    let result = try await ServerFixture.run(
      "curl", ["-sS", "-o", "/dev/null", "-w", "%{http_code}", "--noproxy", "", "-x", proxy, target])
    return String(decoding: result.output, as: UTF8.self)
  }

  @Test func `the first line says where it listens, and a later one where its metrics are`() async throws {
    try await running(["--metrics", "127.0.0.1:0"]) { port, lines in
      try await becomes { try lines().count > 2 }
      let lines = try lines()
      #expect(lines[0] == "dnsctl: proxy at 127.0.0.1:\(port)")
      #expect(lines[1].hasPrefix("dnsctl: metrics at http://127.0.0.1:"))
    }
  }

  @Test func `once the first line has come a hang-up ends nothing`() async throws {
    let script = """
      cd "$1" && mkfifo said
      for round in 1 2 3 4 5 6 7 8; do
        "$0" proxy --listen 127.0.0.1:0 --no-system 2>said &
        { read -r line; kill -HUP $!; kill -TERM $!; cat >/dev/null; } <said
        wait $!; echo $?
      done
      """
    let folder = try ServerFixture.newFolder("hang-up")
    let (_, output) = try await ServerFixture.run("sh", ["-c", script, Program.url.path, folder.path])
    #expect(String(decoding: output, as: UTF8.self) == String(repeating: "0\n", count: 8))
  }

  @Test(arguments: [true, false]) func `a token is taken from a file or a variable`(isFile: Bool) async throws {
    let (token, file) = ("0123456789abcdef", try ServerFixture.newFolder("token").appending(path: "token"))
    try "\(token)\n".write(to: file, atomically: false, encoding: .utf8)
    let place = isFile ? "@\(file.path)" : "$PROXY_TOKEN"
    let lines = try await running(["--token", place], environment: isFile ? [] : ["PROXY_TOKEN=\(token)"]) {
      port, _ async throws in
      // The address policy is behind the password.
      #expect(try await status("http://x:\(token)@127.0.0.1:\(port)") == "403")
      #expect(try await status("http://x:y\(token)@127.0.0.1:\(port)") == "407")
    }
    #expect(!lines.joined().contains(token))
  }

  @Test func `it follows its configuration: what is allowed no more is refused`() async throws {
    let file = try ServerFixture.newFolder("followed").appending(path: "configuration")
    func write(_ text: String) throws { try text.write(to: file, atomically: true, encoding: .utf8) }
    try write(#"{ addressPolicy: { allow: ["127.0.0.0/8"] } }"#)
    try await running(["--config", file.path]) { port, _ in
      #expect(try await status("http://127.0.0.1:\(port)") == "502")
      try write("{ addressPolicy: { allow: [] } }")
      try await becomes { try await status("http://127.0.0.1:\(port)") == "403" }
    }
  }

  /// What a service manager does, by a program that hears what a service tells it.
  @Test(
    .enabled(if: ServerFixture.path(of: "python3") != nil && ServerFixture.path(of: "openssl") != nil, "no python3"),
    arguments: ["reload", "files"])
  func `it goes on when it is told to read files again without a configuration, and when no file is left`(
    scene: String
  ) async throws {
    let (status, output) = try await ServerFixture.run(
      "sh",
      [
        "-c", "exec python3 \"$@\" 2>&1", "sh", ProxyClient.file("service.py"), scene, Program.url.path, "--no-system",
      ])
    #expect(status == 0, "\(String(decoding: output, as: UTF8.self))")
  }

  @Test func `too few files to serve with are told, and end nothing by a trap`() async throws {
    let script = "ulimit -n 9; exec \"$0\" exec -- true 2>&1"
    // Other shells need more files themselves.
    let result = try await ServerFixture.run("bash", ["-c", script, Program.url.path])
    let text = String(decoding: result.output, as: UTF8.self)
    #expect(result.status == 74 && text.contains("ulimit -n"), "\(result.status): \(text)")
  }

  @Test func `help has the proxy's own`() async throws {
    for verb in ["proxy", "exec"] {
      let (asked, shown) = (try await Program().run(["help", verb]), try await Program().run([verb, "--help"]))
      #expect(asked.status == 0 && asked.output == shown.output && asked.output.contains("--upstream"))
    }
  }

  @Test func `another proxy's password is not shown, and what cannot be one is told`() async throws {
    for (words, said) in [
      (["--upstream", "https://ann:geheim@a"], "no TLS"), (["--upstream", "@/no/such"], "no file"),
      (["--upstream", "$NO_SUCH"], "--upstream: the environment has no variable"),
      (["--token", "$geheim-geheim"], "--token: the environment has no variable"),
      (["--upstream-resolves"], "needs --upstream"), (["--route", "a.example"], "Write NAME=direct"),
      (["--route", "a.example=upstream"], "there is no upstream proxy"),
      (["--upstream", "http://127.0.0.1:3128", "--listen", "127.0.0.1:3128"], "listens itself"),
    ] {
      let outcome = try await Program().run(["proxy"] + words)
      #expect([64, 74].contains(outcome.status) && outcome.errors.contains(said), "\(outcome)")
      #expect(!outcome.errors.contains("geheim"))
    }
  }

  /// Waits for what must come; the configuration is looked at each second.
  func becomes(_ condition: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(20)
    while !(try await condition()) {
      guard ContinuousClock.now < deadline else { throw ServerFixture.Failure("it does not come about") }
      try await Task.sleep(for: .milliseconds(10))
    }
  }
}
