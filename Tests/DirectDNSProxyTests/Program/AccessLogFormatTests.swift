// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import DirectDNS
import DirectDNSProxy
import Testing

@testable import dnsctl_proxy

@Suite("Lines of the access log")
struct AccessLogFormatTests {
  private var access: ProxyAccess {
    var access = ProxyAccess(.http, method: "GET", client: IPAddress("127.0.0.1"), origin: "a.example:80")
    access.user = "ann\"\n\u{9b}"
    access.path = "/x"
    access.httpVersion = "1.1"
    access.status = 502
    access.error = "dns_error; rcode=\"NXDOMAIN\""
    access.address = IPAddress("192.0.2.1")
    (access.received, access.sent) = (1, 2)
    access.duration = .milliseconds(1500)
    return access
  }

  private func line(_ format: AccessLogFormat, showsPath: Bool = false) -> String {
    format.line(access, showsPath: showsPath, ended: WallInstant(milliseconds: 1_700_000_000_000))
  }

  @Test func `JSON has every key, and quotes what clients say`() {
    #expect(
      line(.json)
        == #"{"time":"2023-11-14T22:13:20Z","client":"127.0.0.1","user":"ann\"\n\u009b","kind":"http","method":"GET","origin":"a.example:80","status":502,"error":"dns_error; rcode=\"NXDOMAIN\"","address":"192.0.2.1","received":1,"sent":2,"connectMs":null,"durationMs":1500}"#
        + "\n")
  }

  @Test func `the help of dnsctl proxy has every key of the JSON`() {
    let help = Set(ProxyCommand.configuration.discussion.split { !$0.isLetter })
    let keys = line(.json, showsPath: true).matches(of: #/"([A-Za-z]+)":/#)
    #expect(keys.count > 10)
    for match in keys {
      #expect(help.contains(match.1), "\(match.1)")
    }
  }

  @Test func `a combined line without a host, a client's address or a method has what the help says`() {
    let ended = WallInstant(milliseconds: 1_700_000_000_000)
    var own = ProxyAccess(.http, method: "GET")
    (own.path, own.httpVersion, own.status) = ("/live", "1.1", 200)
    let ownLine = AccessLogFormat.combined.line(own, showsPath: true, ended: ended)
    #expect(ownLine.hasPrefix("unix: - - [") && ownLine.contains(#"] "GET -/live HTTP/1.1" 200 0"#), "\(ownLine)")
    let socks = AccessLogFormat.combined.line(
      ProxyAccess(.socks5, origin: "a.example:443"), showsPath: true, ended: ended)
    #expect(socks.contains(#"] "socks5 a.example:443" - 0"#), "\(socks)")
    let help = ProxyCommand.configuration.discussion
    for words in ["CLIENT is unix:", "TARGET begins with -", "socks5 or socks4 for METHOD"] {
      #expect(help.contains(words), "\(words)")
    }
  }

  @Test func `combined is one line as Apache writes it, whatever clients say`() {
    #expect(
      line(.combined)
        == #"127.0.0.1 - ann\x22\x0a\xc2\x9b [14/Nov/2023:22:13:20 +0000] "GET a.example:80 HTTP/1.1" 502 2 "-" "-""#
        + "\n")
  }

  @Test(arguments: [AccessLogFormat.json, .combined])
  func `what a client makes long is cut`(_ format: AccessLogFormat) {
    var access = access
    (access.method, access.path) = (String(repeating: "M", count: 60_000), "/" + String(repeating: "ä", count: 30_000))
    access.origin = String(repeating: "o", count: 60_000)
    let line = format.line(access, showsPath: true, ended: WallInstant(milliseconds: 0))
    #expect(line.contains("/" + String(repeating: "ä", count: 1000)) && line.contains("MMM…"))
    #expect(line.contains("ooo…") && line.utf8.count < 7_000)
  }

  @Test func `a path stands in it where it was asked for alone`() {
    #expect(line(.json, showsPath: true).contains(#""path":"/x""#))
    #expect(!line(.json).contains("/x"))
    #expect(line(.combined, showsPath: true).contains(#""GET a.example:80/x HTTP/1.1""#))
  }
}
