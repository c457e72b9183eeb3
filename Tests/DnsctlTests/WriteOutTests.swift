// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite(.timeLimit(.minutes(1))) struct WriteOutTests {
  @Test(
    arguments: [
      ("", []), ("a\\n\\t\\r", [.text("a\n\t\r")]), ("100%%", [.text("100%")]), ("\\x\\", [.text("\\x\\")]),
      ("%z%", [.text("%z%")]), ("%{http_code", [.text("%{http_code")]),
      ("%{http_code}!", [.variable(.httpCode), .text("!")]), ("%header{ETag}", [.header("ETag")]),
      ("%{json}%{stderr}%{onerror}", [.json, .toErrors, .onError]),
      ("%%{method}", [.text("%{method}")]), ("%{HTTP_Code}%{Json}", [.variable(.httpCode), .json]),
    ] as [(String, [WriteOut.Piece])])
  func `a format is read as curl reads it`(_ format: String, _ pieces: [WriteOut.Piece]) {
    #expect(WriteOut(format).pieces == pieces)
  }

  @Test func `an unknown variable is told and stands for nothing`() async throws {
    #expect(WriteOut("a%{nope}b").unknown == ["nope"])
    let later = WriteOut("a%output{f}b%header{etag:all:, }c%time{%Y}")
    #expect(later.unknown == ["output{f}", "header{etag:all:, }", "time{%Y}"])
    #expect(later.pieces == [.text("ab"), .text("c")])
    try await FetchFixture.with(handler: { _ in OriginResponse() }) { fixture in
      let outcome = await fixture.fetch(["-w", "a%{nope}b", fixture.url()])
      #expect(outcome.output == "ab" && outcome.status == 0)
      #expect(outcome.errors == "dnsctl: unknown --write-out variable: 'nope'\n")
    }
  }

  @Test func `a file's line ends are no part of the format`() async throws {
    try await FetchFixture.with(handler: { _ in OriginResponse() }) { fixture in
      try fixture.write("code: %{http_code}\\n\r\n  method: %{method}\\n\n\n", to: "dnsctl-format")
      let outcome = await fixture.fetch(["-w", "@\(fixture.path("dnsctl-format"))", fixture.url()])
      #expect(outcome.output == "code: 200\n  method: GET\n")
      let path = fixture.path("dnsctl-latin")
      try Data(Array("%{http_code} caf".utf8) + [0xE9]).write(to: URL(filePath: path))
      let odd = await fixture.fetch(["-w", "@\(path)", fixture.url()])
      #expect(odd.status == 64 && odd.errors.contains("\(path) is not UTF-8"), "\(odd)")
    }
  }

  @Test func `octets of a field that are no UTF-8 stay what they are in files and pipes`() async throws {
    let value = Array("caf".utf8) + [0xE9]
    let field = Array("X-Own: ".utf8) + value + Array("\r\n".utf8)
    try await FetchFixture.with(handler: { _ in
      throw OriginFault.bytes(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n".utf8) + field + Array("\r\n".utf8))
    }) { fixture in
      let command = CommandFixture()
      let options = ["-i", "-o", fixture.path("body"), "-D", fixture.path("heads"), "-w", "%header{x-own}"]
      #expect(await fixture.fetch(options + [fixture.url()], in: command).status == 0)
      for name in ["body", "heads"] {
        let bytes = Array(FileManager.default.contents(atPath: fixture.path(name)) ?? Data())
        #expect(bytes.contains(field), "\(name)")
      }
      #expect(command.output.bytes == value)
    }
  }

  @Test func `octets of a content type that are no UTF-8 stay what they are, too`() async throws {
    let value = Array("text/caf".utf8) + [0xE9]
    let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Type: ".utf8)
    try await FetchFixture.with(handler: { _ in
      throw OriginFault.bytes(head + value + Array("\r\n\r\n".utf8))
    }) { fixture in
      let command = CommandFixture()
      #expect(await fixture.fetch(["-w", "%{content_type}", fixture.url()], in: command).status == 0)
      #expect(command.output.bytes == value)
    }
  }

  @Test func `a transfer is told`() async throws {
    try await FetchFixture.with(handler: { request in
      request.path == "/old"
        ? OriginResponse(.seeOther, fields: [.location: "/new"])
        : OriginResponse(fields: [.contentType: "text/x", .eTag: "\"1\""], body: "body")
    }) { fixture in
      let format = """
        %{http_code} %{response_code} %{method} %{num_redirects} %{num_connects} %{remote_ip} %{remote_port} \
        %{size_download} %{size_upload} %{content_type} %header{etag} %{url} %{url_effective} %{scheme} \
        %{http_version} %{exitcode} [%{errormsg}] [%{filename_effective}] %{urlnum}%{onerror} never
        """
      let outcome = await fixture.fetch(["-d", "abc", "-o", "/dev/null", "-w", format, fixture.url("/old")])
      #expect(
        outcome.output
          == "200 200 GET 1 1 127.0.0.1 \(fixture.origin.port) 4 0 text/x \"1\" \(fixture.url("/old")) \(fixture.url("/new")) http 1.1 0 [] [/dev/null] 0"
      )
    }
  }

  @Test(arguments: [
    ("It failed.", "It failed."),
    ("It failed.\n  one: refused\n  two: timed out", "It failed. one: refused; two: timed out"),
    ("", ""),
  ])
  func `an error's lines become one`(_ message: String, _ line: String) {
    #expect(WriteOutVariable.line(message) == line)
  }

  @Test func `a failure is told, too`() async throws {
    try await FetchFixture.with(handler: { _ in OriginResponse(.notFound) }) { fixture in
      let format = "%{http_code} %{exitcode} [%{errormsg}]%{onerror} failed\\n"
      let outcome = await fixture.fetch(["-sf", "-w", format, fixture.url("/a"), "http://gone.example/"])
      let lines = outcome.output.split(separator: "\n")
      #expect(lines.count == 2 && outcome.status == 22)
      #expect(lines[0].hasPrefix("404 22 [") && lines[0].hasSuffix("404 Not Found.] failed"))
      #expect(lines[1].hasPrefix("000 1 [gone.example does not exist") && lines[1].hasSuffix("] failed"))
    }
  }

  @Test func `a request that failed on its connection, or behind a redirect, says where it was connected to`()
    async throws
  {
    try await FetchFixture.with(handler: { request in
      guard request.path == "/lost" else {
        return OriginResponse(.seeOther, fields: [.location: "http://other.example:1/"])
      }
      throw OriginFault.close
    }) { fixture in
      for path in ["/lost", "/moved"] {
        let format = "%{num_connects} %{remote_ip} %{remote_port}"
        let outcome = await fixture.fetch(["-s", "-d", "a", "-w", format, fixture.url(path)])
        #expect(outcome.status == 2 && outcome.output == "1 127.0.0.1 \(fixture.origin.port)", "\(path): \(outcome)")
      }
    }
  }

  @Test func `a connection that was opened in place of a kept one counts, though no response came over it`()
    async throws
  {
    try await FetchFixture.with(handler: { request in
      guard request.path == "/lost" else { return OriginResponse() }
      throw OriginFault.close
    }) { fixture in
      let urls = [fixture.url("/first"), fixture.url("/lost")]
      let outcome = await fixture.fetch(["-s", "-w", "%{num_connects} %{http_code}\\n"] + urls)
      #expect(outcome.output == "1 200\n1 000\n", "\(outcome)")
    }
  }

  @Test func `a server whose certificate is refused says where it was connected to`() async throws {
    let identity = try TestCertificateAuthority().issue(names: ["shop.example"])
    try await FetchFixture.with(FakeOriginConfiguration(identity: identity)) { fixture in
      let format = "%{num_connects} %{remote_ip} %{remote_port} %{http_code}"
      let outcome = await fixture.fetch(["-s", "-w", format, fixture.url()])
      #expect(outcome.status == 2 && outcome.output == "1 127.0.0.1 \(fixture.origin.port) 000", "\(outcome)")
    }
  }

  @Test func `heads count as they came, and not with the name put back`() async throws {
    let interim = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    let heads = [
      "/x": interim + "HTTP/1.1 302 Found\r\nLocation: /y\r\nContent-Length:0\r\n\r\n",
      "/y": "HTTP/1.1 200\r\nX-Own:   a\r\nContent-Length: 4\r\n\r\n",
    ]
    try await FetchFixture.with(handler: { request in
      throw OriginFault.text((heads[request.path] ?? "") + (request.path == "/y" ? "body" : ""))
    }) { fixture in
      let outcome = await fixture.fetch(["-w", " %{size_header}", fixture.url("/x")])
      #expect(outcome.output == "body \(heads.values.map(\.utf8.count).reduce(0, +))", "\(outcome)")
    }
  }

  @Test func `a redirect that is not followed says where it leads, and where -w is, is a file's business`() async throws
  {
    try await FetchFixture.with(handler: { _ in OriginResponse(.found, fields: [.location: "next?a"]) }) { fixture in
      try fixture.write("%{redirect_url}", to: "dnsctl-format")
      let url = fixture.url("/x/y")
      let outcome = await fixture.fetch(["--no-location", "-w", "@\(fixture.path("dnsctl-format"))", url])
      #expect(outcome.output == fixture.url("/x/next?a"))
      let typed = await fixture.fetch(["--no-location", "-w", "@-", url], input: ["%{stderr}%{urlnum}\\n"])
      #expect(typed.output == "" && typed.errors == "0\n")
    }
  }

  @Test(arguments: [([" "], ""), (["/a", "/b"], ""), (["/a", "/a", ""], "/a")] as [([String], String)])
  func `a Location leads in -w to where it would be followed to`(_ locations: [String], _ path: String) async throws {
    let fields = locations.map { "Location: \($0)\r\n" }.joined()
    try await FetchFixture.with(handler: { _ in
      throw OriginFault.text("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\(fields)\r\n")
    }) { fixture in
      let outcome = await fixture.fetch(["--no-location", "-w", "%{redirect_url}", fixture.url("/x")])
      #expect(outcome.output == (path.isEmpty ? "" : fixture.url(path)), "\(outcome)")
    }
  }

  @Test(arguments: ["ftp://files.example/a", "mailto:a@shop.example"])
  func `a Location of a scheme that is never followed is told in -w`(_ location: String) async throws {
    try await FetchFixture.with(handler: { _ in OriginResponse(.found, fields: [.location: location]) }) { fixture in
      let outcome = await fixture.fetch(["--no-location", "-w", "%{redirect_url}", fixture.url("/x")])
      #expect(outcome.output == location, "\(outcome)")
    }
  }

  @Test(arguments: [("0", "/x/sub/next"), ("1", "/x/sub/sub/next")])
  func `the redirect that is one too many says where it leads`(_ limit: String, _ path: String) async throws {
    try await FetchFixture.with(handler: { _ in OriginResponse(.found, fields: [.location: "sub/next"]) }) { fixture in
      let outcome = await fixture.fetch(["--max-redirs", limit, "-w", "%{redirect_url}", fixture.url("/x/y")])
      #expect(outcome.status == 47 && outcome.output == fixture.url(path), "\(outcome)")
    }
  }

  @Test func `JSON has every variable, and fields with all their values`() async throws {
    try await FetchFixture.with(handler: { _ in
      var fields: HTTPFields = [.contentType: "a"]
      fields.append(HTTPField(name: .setCookie, value: "b=\"1\""))
      fields.append(HTTPField(name: .setCookie, value: "c"))
      return OriginResponse(fields: fields)
    }) { fixture in
      let json = await fixture.fetch(["-w", "%{json}", fixture.url()]).output
      for variable in WriteOutVariable.allCases { #expect(json.contains("\"\(variable.rawValue)\":")) }
      #expect(json.contains("\"errormsg\":null") && json.contains("\"http_code\":200,"))
      let fields = await fixture.fetch(["-w", "%{header_json}", fixture.url()]).output
      #expect(fields.contains(#""set-cookie":["b=\"1\"","c"]"#) && fields.hasPrefix("{") && fields.hasSuffix("}"))
    }
  }

  @Test func `transfers side by side are told in their order`() async throws {
    try await FetchFixture.with { fixture in
      let urls = (0..<8).map { fixture.url("/\($0)") }
      let outcome = await fixture.fetch(
        ["-Z", "-o", "/dev/null"] + Array(repeating: ["-o", "/dev/null"], count: 7).joined() + ["-w", "%{urlnum} "]
          + urls)
      #expect(outcome.output == "0 1 2 3 4 5 6 7 ")
    }
  }

  @Test func `what of a compressed body is counted is in the help`() {
    let help = FetchCommand.configuration.discussion
    #expect(help.contains("with --compressed the decoded one, where curl counts the bytes of the transfer"))
  }

  @Test func `numbers are written as curl writes them`() {
    #expect(WriteOutVariable.Value.seconds(.microseconds(1_000_042)).text == "1.000042")
    #expect(WriteOutVariable.Value.code(0).text == "000" && WriteOutVariable.Value.code(404).json == "404")
  }
}
