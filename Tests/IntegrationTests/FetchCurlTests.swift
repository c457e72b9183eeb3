// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

/// `dnsctl fetch` and the real curl, with the same options and to the same server.
@Suite(.timeLimit(.minutes(1)), .enabled(if: ServerFixture.path(of: "curl") != nil, "curl is not installed"))
struct FetchCurlTests {
  @Test(arguments: [
    ["-F", "a=b"], ["-F", "f=@a.txt", "-F", "g=<a.txt", "-F", "p=@b.png;type=x/y;filename=n\"o"],
    ["-F", "a=x;type=text/plain;charset=utf-8"], ["-F", #"a="x;y \"z\"";type=t/u"#], ["-F", "g=<a.txt;filename=q.txt"],
    ["--form-string", "a=@x;y", "-F", "b=c"], ["-G", "-d", "a=b", "-d", "c=d"], ["-G", "-I", "-d", "a=b"],
    ["-G", "--data-urlencode", "q=a b&"], ["--data-urlencode", "a b&="], ["--data-urlencode", "=a b="],
    ["--data-urlencode", "n=a b+ü~-._"], ["--data-urlencode", "@a.txt"], ["--data-urlencode", "n@a.txt"],
    ["-d", "a=1", "--data-urlencode", "b=x y", "--data-raw", "@c"], ["--data-urlencode", "b=x y", "-d", "@a.txt"],
    ["-A", "me"], ["-A", ""], ["-A", "me", "-H", "User-Agent: you"], ["-r", "0-4"], ["-r", "-5"], ["-r", "0-1,4-5"],
    ["-F", "a= x y ", "-F", "f=@ a.txt ; filename= n ", "-F", "t=x;type= text/plain; charset=utf-8 "],
    ["-G", "-d", ""],
  ])
  func `sends what curl sends`(_ options: [String]) async throws {
    let origin = try await FakeOrigin.start(handler: OriginResponse.echo)
    let program = try Program()
    try Data("one <two>\nthree\n".utf8).write(to: program.folder.appending(path: "a.txt"))
    try Data("\u{89}PNG".utf8).write(to: program.folder.appending(path: "b.png"))
    let words = ["-sS"] + options + [origin.url("/p?x=y", host: "127.0.0.1")]
    let ours = try await program.run(["fetch", "--no-system", "--allow", "127.0.0.0/8"] + words)
    let quoted = words.map { "'\($0.replacing("'", with: "'\\''"))'" }.joined(separator: " ")
    let theirs = try await ServerFixture.run(
      "bash", ["-c", "cd '\(program.folder.path)' && curl --disable --noproxy '*' \(quoted)"])
    #expect(ours.status == 0 && theirs.status == 0, "\(ours)")
    let requests = origin.requests
    try #require(requests.count == 2)
    // Which of two programs it is, what stands between parts, and how long that makes the body, are their own.
    let told = requests.map { request in
      let fields = request.fields.filter { $0.name != .contentLength }.map { "\($0.name.canonicalName): \($0.value)" }
        .sorted()
      let body = String(decoding: request.body, as: UTF8.self)
      return "\(request.method) \(request.target)\n\(fields.joined(separator: "\n"))\n\n\(body)"
        .replacing(#/-{20,}[0-9A-Za-z]+/#, with: "BOUNDARY").replacing(#/(?:curl|dnsctl)\/[0-9.]+/#, with: "PROGRAM")
    }
    #expect(told[0] == told[1])
    await origin.stop()
  }

  @Test func `writes out what curl writes out`() async throws {
    let origin = try await FakeOrigin.start { _ in OriginResponse(body: "body") }
    let format = """
      %{http_code} %{response_code} %{remote_ip} %{remote_port} %{size_download} %{size_upload} %{url} %{url_effective} \
      %{num_redirects} %{http_version} [%{content_type}] %{method} %{exitcode} %{num_connects} %{num_headers} \
      %{size_header} %{urlnum} %header{content-length} [%header{none}] %{nope} 100%% \\x %z \\t|%{onerror}no
      """
    let words = ["-s", "-d", "abc", "-o", "/dev/null", "-w", format, origin.url("/p", host: "127.0.0.1")]
    let ours = try await Program().run(["fetch", "--no-system", "--allow", "127.0.0.0/8"] + words)
    let theirs = try await ServerFixture.run("curl", ["--disable", "--noproxy", "*"] + words)
    #expect(ours.output == String(decoding: theirs.output, as: UTF8.self))
    await origin.stop()
  }

  @Test(arguments: ["/old", "/older", "/early", "/lost"])
  func `writes out of redirects and failures what curl writes out`(_ path: String) async throws {
    let origin = try await FakeOrigin.start { request in
      switch request.path {
      case "/older": OriginResponse(.found, fields: [.location: "/old"])
      case "/old": OriginResponse(.found, fields: [.location: "new"])
      case "/early": throw OriginFault.text("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n")
      case "/lost": throw OriginFault.close
      default: OriginResponse(body: "body")
      }
    }
    let format = """
      %{http_code} %{remote_ip} %{remote_port} %{size_download} %{size_upload} %{size_header} %{num_headers} \
      %{num_connects} %{num_redirects} %{url_effective} %{method}|%{time_connect} %{time_pretransfer} %{time_appconnect}
      """
    // What is sent by POST goes out once: a lost connection would have a GET sent again.
    let words = ["-s", "-L", "-d", "abc", "-o", "/dev/null", "-w", format, origin.url(path, host: "127.0.0.1")]
    let ours = try await Program().run(["fetch", "--no-system", "--allow", "127.0.0.0/8"] + words)
    let theirs = try await ServerFixture.run("curl", ["--disable", "--noproxy", "*"] + words)
    let told = [ours.output, String(decoding: theirs.output, as: UTF8.self)].map { $0.split(separator: "|") }
    try #require(told.allSatisfy { $0.count == 2 }, "\(told)")
    #expect(told[0][0] == told[1][0])
    // How long it takes is each program's own; whether it took any time is not.
    let tookTime = told.map { $0[1].split(separator: " ").map { $0 != "0.000000" } }
    #expect(tookTime == [[true, true, false], [true, true, false]])
    await origin.stop()
  }
}
