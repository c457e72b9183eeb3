// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite struct `dnsctl rewrite` {
  private static let zone: [String: Zone.Entry] = [
    "shop.example": .addresses(["8.8.8.8"]), "many.example": .addresses(["8.8.8.8", "10.0.0.1", "9.9.9.9"]),
    "inside.example": .addresses(["10.0.0.1"]),
    "v6.example": .addresses(["2606:4700::7"]), "gone.example": .missing, "broken.example": .code(2),
  ]

  private func rewrite(_ arguments: [String], input: [String] = []) async -> CommandFixture.Outcome {
    await CommandFixture(zone: Self.zone, input: ScriptedInput(input)).run(
      ["rewrite", "--provider", "google", "--no-system", "--family", "any"] + arguments)
  }

  @Test func `shows what would be sent`() async {
    let outcome = await rewrite(["https://u:p@shop.example:8443/a/../cart?id=7#x"])
    #expect(
      outcome.output == """
        https://u:p@shop.example:8443/a/../cart?id=7#x
          address      8.8.8.8 port 8443
          URL          https://8.8.8.8:8443/cart?id=7
          Host         shop.example:8443
          originalUrl  https://u:p@shop.example:8443/cart?id=7
          server name  shop.example

        """)
    #expect(outcome.errors == "")
    #expect(outcome.status == 0)
  }

  @Test func `shows the addresses that are left, in their order`() throws {
    let request = HTTPRequest(url: try WebURL("http://many.example/"))
    let answer = ["8.8.8.8", "9.9.9.9", "2606:4700::7"].compactMap { IPAddress($0) }
    let result = RewriteResult(
      text: "http://many.example/", outcome: RequestRewriter(form: .pinned).rewrite(request, using: answer))
    #expect(RewriteFormat.text.render(result).output.hasSuffix("\n  others       9.9.9.9, 2606:4700::7\n"))
  }

  @Test func `keeps the name in the URL of the pinned form`() async {
    #expect(
      await rewrite(["--form", "pinned", "http://v6.example/x"]).output == """
        http://v6.example/x
          address      2606:4700::7 port 80
          URL          http://v6.example/x
          Host         v6.example

        """)
  }

  @Test func `looks nothing up when the address is given`() async {
    let fixture = CommandFixture()
    let outcome = await fixture.run([
      "rewrite", "--address", "[2606:4700::7]", "--format", "json", "http://unknown.example/",
    ])
    #expect(outcome.output.contains(#""url":"http://[2606:4700::7]/","host":"unknown.example""#))
    #expect(fixture.transport.asked.withLock { $0 } == [])
  }

  @Test(arguments: [
    ("http://8.8.8.8/", "addressLiteral: the URL names an address, so there is nothing to look up"),
    ("ftp://shop.example/x", "otherScheme: only requests of http, https, ws and wss are rewritten"),
    ("http://gone.example/", "noAddress: "), ("http://broken.example/", "noAddress: "),
  ])
  func `bypasses what is to be sent as it is, which is no failure`(_ url: String, _ reason: String) async {
    let outcome = await rewrite(["--format", "json", url])
    #expect(outcome.output.hasPrefix(#"{"outcome":"bypassed","reason":""# + reason))
    #expect(outcome.output.contains(#""form":null,"url":"\#(url)","host":null"#))
    #expect(outcome.status == 0)
  }

  @Test(arguments: [
    ("http://inside.example/", "addressForbidden: The address 10.0.0.1 of inside.example lies in 10.0.0.0/8"),
    ("http://127.1/", "addressForbidden: The address 127.0.0.1"),
    ("http://a..example/", "invalidName: "), ("http://a b/", "invalidURL: "), ("shop.example", "invalidURL: "),
    ("http://x.onion/", "refused: "),
  ])
  func `refuses what must not be sent`(_ url: String, _ reason: String) async {
    let json = await rewrite(["--format", "json", url])
    #expect(json.output.hasPrefix(#"{"outcome":"refused","reason":""# + reason), "\(json.output)")
    #expect(json.errors == "")
    #expect(json.status == 3)
    let text = await rewrite([url])
    #expect(text.errors.hasPrefix("dnsctl: "))
    let words = reason.split(separator: ": ", maxSplits: 1, omittingEmptySubsequences: false)[1]
    #expect(words.isEmpty || text.errors.contains(words))
    #expect(text.output == "")
    #expect(text.status == 3)
  }

  @Test func `repeats nothing of a refused URL but its origin`() async {
    let outcome = await rewrite(["http://user:word@inside.example:81/secret?token=1#part", "https://u:word@a b/token"])
    #expect(outcome.errors.hasPrefix("dnsctl: http://inside.example:81: The address 10.0.0.1"))
    for secret in ["user", "word", "secret", "token", "part"] { #expect(!outcome.errors.contains(secret)) }
  }

  @Test func `says which of several URLs cannot be read`() async {
    let urls = ["http://v6.example/", "http://u:word@a b/", "mailto:u@a.example"]
    let lines = await rewrite(["--format", "curl"] + urls).errors.split(separator: "\n")
    #expect(lines.count == 2 && lines.first?.hasPrefix("dnsctl: URL 2 of 3: ") == true, "\(lines)")
    #expect(lines.last?.hasPrefix("dnsctl: URL 3 of 3: ") == true, "\(lines)")
    #expect(await rewrite(["http://a b/"]).errors.contains("URL 1") == false)
    let twice = await rewrite(["http://a b/", "http://8.8.8.8/", "http://a b/"]).errors.split(separator: "\n")
    #expect(twice.map { $0.prefix(20) } == ["dnsctl: URL 1 of 3: ", "dnsctl: URL 3 of 3: "], "\(twice)")
  }

  @Test func `takes blanks around a value of a JSON request for no part of it`() async {
    let outcome = await rewrite(
      ["--format", "curl", "-"],
      input: [#"{"url":"http://shop.example/","headers":[["X"," a\t"],["X-Empty"," "]]}"#])
    #expect(outcome.output.contains("--header 'X: a' --header 'X-Empty;'"), "\(outcome)")
  }

  @Test func `goes by the policy of options and file`() async {
    // Equal addresses take turns at being the first.
    func addresses(_ arguments: [String], file: String = "{}") async -> [String] {
      let outcome = await CommandFixture(zone: Self.zone, files: ["/c.json5": file]).run(
        ["rewrite", "--config", "/c.json5", "--provider", "google", "--no-system", "--format", "json"] + arguments
          + ["http://many.example/"])
      let list = outcome.output.split(separator: #""addresses":["#)
      return list.count < 2 ? [] : list[1].dropLast(3).split(separator: ",").map { $0.filter { $0 != "\"" } }.sorted()
    }
    #expect(await addresses([]) == ["8.8.8.8", "9.9.9.9"])
    #expect(await addresses(["--allow", "10.0.0.0/8"]) == ["10.0.0.1", "8.8.8.8", "9.9.9.9"])
    #expect(await addresses(["--allow", "example"]) == ["10.0.0.1", "8.8.8.8", "9.9.9.9"])
    #expect(await addresses(["--address-policy", "any", "--deny", "8.8.8.8"]) == ["10.0.0.1", "9.9.9.9"])
    #expect(await addresses(["--address-policy", "9.0.0.0/8,10.0.0.1"]) == ["10.0.0.1", "9.9.9.9"])
    #expect(await addresses(["--deny", "many.example"]) == [])
    let file = "{ addressPolicy: { allow: ['10.0.0.0/8'], deny: ['9.9.9.9'] } }"
    #expect(await addresses([], file: file) == ["10.0.0.1", "8.8.8.8"])
    #expect(await addresses(["--deny", "8.8.8.8"], file: file) == ["10.0.0.1"])
  }

  @Test(arguments: [
    (["--address", "x", "http://a.example/"], "\"x\" is not an IP address"),
    (["--allow", "10.0.0.0/33", "http://a.example/"], "\"10.0.0.0/33\" is not a network"),
    (["--deny", "a..b", "http://a.example/"], "\"a..b\" is neither a network, an address nor a name"),
    (
      ["--allow", "10.0.0.0/8,127.0.0.1", "http://a.example/"],
      "\"10.0.0.0/8,127.0.0.1\" has a comma. Give each network, address or name by itself."
    ),
    (["--deny", "*.b.example", "http://a.example/"], "for all names below it: write \"b.example\"."),
    (["--address-policy", "some", "http://a.example/"], "\"some\" is not an address policy"),
    ([], "<url>"),
  ])
  func `names what is wrong with the command line`(_ arguments: [String], _ part: String) async {
    let outcome = await rewrite(arguments)
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains(part))
  }

  @Test func `answers each JSON request with one line, in order`() async {
    let outcome = await rewrite(
      ["-"],
      input: [
        #"{"url":"https://shop.example/","method":"POST","headers":[["X-A","1"],["Host","own"],["X-a","2"]]}"# + "\n",
        "\n#\n", #"{"url":"http://a.example/","address":"9.9.9.9","more":1}"#,
      ])
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.count == 3)
    #expect(
      lines.first == """
        {"outcome":"rewritten","reason":null,"form":"literal","url":"https://8.8.8.8/","host":"own",\
        "originalUrl":"https://shop.example/","headers":[["X-A","1"],["Host","own"],["X-a","2"],\
        ["originalUrl","https://shop.example/"]],"serverName":"shop.example","port":443,"address":"8.8.8.8",\
        "addresses":["8.8.8.8"]}
        """)
    #expect(lines.dropFirst().first?.contains("The line is not JSON") == true)
    #expect(lines.last?.contains(#""url":"http://9.9.9.9/""#) == true)
    #expect(outcome.status == 3)
  }

  @Test(arguments: [
    ("{}", "url is missing"), (#"{"url":1}"#, "url is 1"), ("[]", "the line is a list"),
    (#"{"url":"http://a.example/","method":"G T"}"#, "method is \\\"G T\\\""),
    (#"{"url":"http://a.example/","headers":[["a"]]}"#, "headers[0] is a list. Give [name, value]"),
    (#"{"url":"http://a.example/","headers":[["a b","c"]]}"#, "headers[0][0] is \\\"a b\\\""),
    (#"{"url":"http://a.example/","headers":[["a","s\r\nX: y"]]}"#, "headers[0][1] has a value that cannot be used"),
    (#"{"url":"http://a.example/","address":"1"}"#, "address is \\\"1\\\""),
    (
      #"{"url":"http://a.example/","\u0075rl":"http://b.example/"}"#,
      "The key url is there for the second time, in column 28. Keep one of the two."
    ),
    (#"{"é":[{"x":1,"x":2,"x":3}],"url":"http://a.example/"}"#, "The key x is there for the second time, in column 14"),
    (#"{"url":"http://a.example/","url":"http://a.example/",}"#, "The line is not JSON"),
    (#"{"url":"http://a.example/\ud800"}"#, "The line is not JSON"),
    (#"{"url":"http://a.example/","\ud800":1}"#, "The line is not JSON"),
    (#"{"url":"http://a.example/","x":\#(String(repeating: "[", count: 10_000))"#, "The line is not JSON"),
  ])
  func `names what is wrong with a JSON request`(_ line: String, _ part: String) async {
    let outcome = await rewrite(["-"], input: [line])
    #expect(outcome.output.contains(part), "\(outcome.output)")
    #expect(outcome.output.hasPrefix(#"{"outcome":"refused""#))
  }

  // MARK: curl

  @Test(arguments: [
    (
      "https://shop.example:8443/a?b=[1]#f",
      "curl --disable --globoff --proto =https --noproxy '*' --connect-to shop.example:8443:8.8.8.8:8443 --url 'https://shop.example:8443/a?b=[1]'"
    ),
    (
      "http://v6.example/it's",
      "curl --disable --globoff --proto =http --noproxy '*' --connect-to 'v6.example:80:[2606:4700::7]:80' --url 'http://v6.example/it'\\''s'"
    ),
    (
      "http://u:p@shop.example/",
      "curl --disable --globoff --proto =http --noproxy '*' --connect-to shop.example:80:8.8.8.8:80 --header 'Authorization: Basic dTpw' --url http://shop.example/"
    ),
    ("http://8.8.8.8/", "curl --disable --globoff --proto =http --url http://8.8.8.8/"),
  ])
  func `writes the command line of curl that does the same`(_ url: String, _ line: String) async {
    #expect(await rewrite(["--format", "curl", url]).output == line + "\n")
  }

  @Test func `gives curl method and fields of a JSON request`() async {
    let outcome = await rewrite(
      ["--format", "curl", "-"],
      input: [#"{"url":"http://shop.example/","method":"PUT","headers":[["Host","own.example"],["X-Empty",""]]}"#])
    #expect(
      outcome.output
        == "curl --disable --globoff --proto =http --noproxy '*' --connect-to shop.example:80:8.8.8.8:80 --request PUT --header 'Host: own.example' --header 'X-Empty;' --url http://shop.example/\n"
    )
  }

  @Test func `says which line of standard input has no command line of curl`() async {
    let outcome = await rewrite(
      ["--format", "curl", "-"], input: [#"{"url":"http://shop.example/"}"# + "\n\n{}\n", "x\n"])
    #expect(outcome.output.split(separator: "\n").count == 1 && outcome.status == 3)
    #expect(
      outcome.errors == """
        dnsctl: standard input:3: url is missing. Give the request's URL.
        dnsctl: standard input:4: The line is not JSON: write one object a line.

        """)
  }

  @Test(arguments: [
    ("http://1.1.1.1\\@127.0.0.1:1/x", "http://1.1.1.1/@127.0.0.1:1/x"), ("http://010.8.8.8/", "http://8.8.8.8/"),
    ("http://1.1.1.1/\ntouch x #", "http://1.1.1.1/touch%20x%20"),
  ])
  func `hands on a bypassed URL in the one spelling that every parser reads alike`(
    _ url: String, _ canonical: String
  ) async {
    let curl = await rewrite(["--format", "curl", url])
    #expect(curl.output == "curl --disable --globoff --proto =http --url \(canonical)\n")
    let json = await rewrite(["--format", "json", url])
    #expect(json.output.contains(#""outcome":"bypassed""#))
    #expect(json.output.contains(#""url":"\#(canonical)"#))
  }

  @Test(arguments: ["file:///etc/passwd", "gopher://127.0.0.1:6379/_x"])
  func `gives curl no command for another scheme`(_ url: String) async {
    let outcome = await rewrite(["--format", "curl", url])
    #expect(outcome.output == "")
    #expect(outcome.errors == "dnsctl: Only requests of http, https, ws and wss are rewritten.\n")
    #expect(outcome.status == 3)
  }

  @Test func `asks for no name that nothing is sent to`() async {
    let fixture = CommandFixture(zone: Self.zone)
    let outcome = await fixture.run([
      "rewrite", "--provider", "google", "--no-system", "--deny", "evil.example", "--format", "json",
      "http://www.evil.example/",
    ])
    let start = #"{"outcome":"refused","reason":"addressForbidden: www.evil.example lies below evil.example,"#
    #expect(outcome.output.hasPrefix(start))
    #expect(fixture.transport.asked.withLock { $0 } == [])
  }

  @Test func `answers lines that are no text, too long or too full, and goes on`() async {
    let good = #"{"url":"http://a.example/","address":"8.8.8.8"}"#
    let fields = Array(repeating: #"["a","b"]"#, count: 1001).joined(separator: ",")
    let outcome = await CommandFixture(
      input: ScriptedInput(bytes: [
        Array("\(good.dropLast(2))".utf8) + [0xFF] + Array("\"}\n".utf8),
        Array((good + String(repeating: " ", count: 1 << 20) + "x\n").utf8),
        Array(#"{"url":"http://a.example/","address":"8.8.8.8","headers":[\#(fields)]}"#.utf8), [0x0A],
        Array(good.utf8),
      ])
    ).run(["rewrite", "-"])
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.count == 4)
    for (line, part) in zip(
      lines, ["is not UTF-8", "is longer than 1048576 bytes", "at most 1000 header fields", "rewritten"])
    {
      #expect(line.contains(part), "\(line.prefix(200))")
    }
  }

  @Test(arguments: ["--allow", "--deny", "--address-policy"])
  func `a network with bits beyond its prefix is refused`(_ option: String) async {
    let outcome = await rewrite([option, "10.1.2.3/8", "http://a.example/"])
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains("Write 10.0.0.0/8, or the address alone."))
  }
}
