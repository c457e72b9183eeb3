// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import Testing

/// Programs of many languages through `dnsctl exec` and `dnsctl proxy`, as their users run them: names that one provider
/// alone knows, over http and https.
@Suite(
  "The proxy's clients", .enabled(if: WebKind.missing.isEmpty, "not every program is installed"),
  .timeLimit(.minutes(3)))
struct ProxyClientTests {
  private static let megabyte = 1 << 20

  private func withClient(_ client: ProxyClient, _ body: (ProxyProgramFixture) async throws -> Void) async throws {
    if let missing = await client.missing { try Test.cancel("\(missing)") }
    try await ProxyProgramFixture.running(body)
  }

  /// Java is told in its own way, which the others do not mind.
  private func run(
    _ client: ProxyClient, _ wish: ProxyClient.Wish, _ fixture: ProxyProgramFixture
  ) async throws -> ProxyProgramFixture.Outcome {
    try await fixture.exec(client.words(wish, trusting: fixture.site.caFile), options: ["--java"])
  }

  @Test(arguments: ProxyClient.allCases)
  func `a client gets and puts, by http and by https`(_ client: ProxyClient) async throws {
    try await withClient(client) { fixture in
      let file = try await fixture.file(Self.megabyte)
      for base in [fixture.plain, fixture.secure] {
        let got = try await run(client, .get("\(base)/name"), fixture)
        #expect(got.status == 0 && got.output.contains(LabSite.www) && got.output.contains("200"), "\(got)")
      }
      let (target, place) = ("\(fixture.secure)/sink/small", fixture.place)
      let put = try await run(client, .put(target, file), fixture)
      #expect(put.status == 0 && put.output.contains("201"), "\(put)")
      let saved = try await run(client, .save(target, place), fixture)
      #expect(saved.status == 0, "\(saved)")
      #expect(try await fixture.digests([file, fixture.site.uploads.appending(path: "small"), place]).count == 1)
      let names = Set(fixture.provider.requests.compactMap(\.name))
      #expect(names == [LabSite.www])
    }
  }

  @Test(arguments: ProxyClient.allCases)
  func `a client is told what the proxy refuses`(_ client: ProxyClient) async throws {
    try await withClient(client) { fixture in
      // An http request's answer is the proxy's page, which says why.
      let (unknown, inside) = (ProxyProgramFixture.unknown, ProxyProgramFixture.inside)
      for (name, says) in [(unknown, "502"), (inside, "403")] {
        let plain = try await run(client, .get("http://\(name):8080/"), fixture)
        #expect(plain.output.contains(says) && plain.output.contains(name), "\(plain)")
      }
      // Of a tunnel's refusal clients show the status or the reason phrase, which says why.
      for (name, says, why) in [
        (unknown, ["502", "Bad Gateway"], "does not exist"), (inside, ["403", "Forbidden"], "lies in 169.254.0.0/16"),
      ] {
        let secure = try await run(client, .get("https://\(name):8443/"), fixture)
        #expect(secure.status != 0 && says.contains { secure.output.contains($0) }, "\(secure)")
        if let shows = client.showsReason { #expect(secure.output.contains(why) == shows, "\(secure)") }
      }
    }
  }

  @Test(arguments: ProxyClient.allCases)
  func `a client proves who it is, and is told where that is wrong`(_ client: ProxyClient) async throws {
    try await withClient(client) { fixture in
      let hash = try await fixture.run(["openssl", "passwd", "-6", "geheim 42"]).output
      let users = fixture.place
      try "ada:\(hash)".write(to: users, atomically: false, encoding: .utf8)
      try await fixture.withProxy(["--users", users.path]) { port in
        for (password, isRight) in [("geheim 42", true), ("wrong", false)] {
          let url = "http://ada:\(password.replacing(" ", with: "%20"))@127.0.0.1:\(port)"
          // Java has Basic switched off for tunnels, and knows no user in a URL.
          let java = [
            "-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=\(port) -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=\(port)",
            "-Djdk.http.auth.tunneling.disabledSchemes= -Dhttp.proxyUser=ada '-Dhttp.proxyPassword=\(password)'",
          ]
          let environment = [
            "http_proxy": url, "https_proxy": url, "NODE_USE_ENV_PROXY": "1",
            "JAVA_TOOL_OPTIONS": java.joined(separator: " "),
          ]
          for base in [fixture.plain, fixture.secure] {
            let words = client.words(.get("\(base)/name"), trusting: fixture.site.caFile)
            let got = try await fixture.run(words, environment: environment)
            if isRight {
              #expect(got.status == 0 && got.output.contains(LabSite.www) && got.output.contains("200"), "\(got)")
            } else {
              #expect(Self.saysRefused(got.output), "\(got)")
            }
          }
        }
      }
    }
  }

  /// What clients make of a 407: the number, its name, or that they have tried often enough.
  private static func saysRefused(_ text: String) -> Bool {
    ["407", "Proxy Authentication Required", "too many authentication attempts"].contains { text.contains($0) }
  }

  private static let large: [(ProxyClient, Bool)] = [
    (.curl, false), (.wget, true), (.requests, true), (.aiohttp, false), (.httpx, true), (.node, false), (.java, true),
    (.go, false),
  ]

  @Test(arguments: large)
  func `a large file arrives whole, both ways`(_ client: ProxyClient, isSecure: Bool) async throws {
    try await withClient(client) { fixture in
      let file = try await fixture.file(ProxyProgramFixture.largeFile)
      let (target, place) = ("\(isSecure ? fixture.secure : fixture.plain)/sink/large", fixture.place)
      for wish in [ProxyClient.Wish.put(target, file), .save(target, place)] {
        let outcome = try await run(client, wish, fixture)
        #expect(outcome.status == 0, "\(outcome)")
      }
      #expect(try await fixture.digests([file, fixture.site.uploads.appending(path: "large"), place]).count == 1)
      // A machine's temporary files may lie in its memory.
      for file in [file, fixture.site.uploads.appending(path: "large"), place] {
        try FileManager.default.removeItem(at: file)
      }
    }
  }

  @Test(arguments: ProxyClient.ofHTTP2)
  func `a client speaks HTTP 2 through a tunnel`(_ client: ProxyClient) async throws {
    try await withClient(client) { fixture in
      if client == .httpx, try await fixture.run(["python3", "-c", "import h2"]).status != 0 {
        try Test.cancel("httpx speaks HTTP/2 by h2, which is not here")
      }
      let got = try await run(client, .second("\(fixture.secure)/name"), fixture)
      #expect(got.status == 0 && got.output.contains(LabSite.www) && got.output.contains("200"), "\(got)")
      #expect(try await fixture.site.requests(1).map(\.version) == ["HTTP/2.0"])
    }
  }

  @Test func `curl asks twice by HTTP 2 through one tunnel`() async throws {
    try await ProxyProgramFixture.running { fixture in
      let got = try await fixture.exec([
        "curl", "-sS", "--http2", "--cacert", fixture.site.caFile, "-w", " %{http_version} %{http_connect}\n",
        "\(fixture.secure)/name", "\(fixture.secure)/name",
      ])
      #expect(got.output == "\(LabSite.www) 2 200\n\(LabSite.www) 2 000\n", "\(got)")
    }
  }

  @Test(arguments: ProxyClient.ofWebSockets)
  func `a WebSocket's messages pass, by ws and by wss`(_ client: ProxyClient) async throws {
    for needed in [client, .aiohttp] {
      if let missing = await needed.missing { try Test.cancel("\(missing)") }
    }
    try await ProxyProgramFixture.running { fixture in
      try await fixture.withServer("echo.py") { ports, certificate in
        for url in ["ws://doh.lab.test:\(ports[0])/", "wss://doh.lab.test:\(ports[1])/"] {
          let words = ["env", "CA_FILE=\(certificate.caFile)", "NODE_EXTRA_CA_CERTS=\(certificate.caFile)"]
          let talked = try await fixture.exec(
            words + client.words(.socket(url), trusting: certificate.caFile), options: ["--java"])
          if talked.status == 75 { try Test.cancel("\(talked.output)") }
          // Java says first what it was told.
          #expect(talked.status == 0 && talked.output.hasSuffix("101 echoed\n"), "\(talked)")
        }
      }
    }
  }
}
