// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS

struct WebURLTests {
  @Test func `a URL is taken apart`() throws {
    let url = try WebURL("https://me:pw@host.example:8443/a/b?x=1&y#end")
    #expect(url.scheme == .https)
    #expect(url.username == "me")
    #expect(url.password == "pw")
    #expect(url.host == .name("host.example"))
    #expect(url.port == 8443)
    #expect(url.path == "/a/b")
    #expect(url.query == "x=1&y")
    #expect(url.fragment == "end")
    #expect(url.href == "https://me:pw@host.example:8443/a/b?x=1&y#end")
  }

  @Test func `a URL is coded as its text`() throws {
    let url = try WebURL("https://me:pw@host.example/a?b#c")
    let text = try JSONEncoder().encode([url])
    #expect(try JSONDecoder().decode([WebURL].self, from: text) == [url])
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([WebURL].self, from: Data(#"["ftp://h/"]"#.utf8)) }
  }

  @Test(arguments: [
    ("http://h", "http://h/"), ("HTTPS://H:443", "https://h/"), ("ws://h:80/", "ws://h/"),
    ("wss://h:80", "wss://h:80/"),
    ("http://h:00080/", "http://h/"), ("http://h:/", "http://h/"), ("http://h:0/", "http://h:0/"),
    ("  http://h/a b \u{1}", "http://h/a%20b"), ("ht\ntp://h/\ta\rb", "http://h/ab"),
    (#"http:\\h\a\..\b"#, "http://h/b"), ("http:h/x", "http://h/x"), ("http:////h/x", "http://h/x"),
    ("http://h/a//b///", "http://h/a//b///"), ("http://h?", "http://h/?"), ("http://h#", "http://h/#"),
    ("http://h?a?b#c#d", "http://h/?a?b#c#d"), (#"http://h?\#\"#, #"http://h/?\#\"#),
  ])
  func `a URL is spelled freely and written in one way`(_ text: String, _ href: String) throws {
    #expect(try WebURL(text).href == href)
  }

  @Test(arguments: [
    ("/a/./b", "/a/b"), ("/a/../b", "/b"), ("/../../b", "/b"), ("/a/b/..", "/a/"), ("/a/.", "/a/"),
    ("/a/%2E", "/a/"),
    ("/a/%2e%2E/b", "/b"), ("/a/.%2e/b", "/b"), ("/a/%2e./b", "/b"), ("/a/.../b", "/a/.../b"),
    ("/a/..b", "/a/..b"),
    ("/a/%2eb", "/a/%2eb"), ("/a//..", "/a/"), ("/a/..?q/../x", "/?q/../x"), ("/%2f..", "/%2f.."),
    ("/..;/b", "/..;/b"),
  ])
  func `dot segments are resolved, however their dots are written`(_ path: String, _ target: String) throws {
    #expect(try WebURL("http://h" + path).requestTarget == target)
  }

  @Test func `each part encodes what may not stand in it and keeps the rest`() throws {
    let url = try WebURL("http://u^[|:p=;@h/a\"<>^`{}|[]'%zz%41?\"<>'^`{}|#\"<>`{}^'é")
    #expect(url.username == "u%5E%5B%7C")
    #expect(url.password == "p%3D%3B")
    #expect(url.path == "/a%22%3C%3E%5E%60%7B%7D|[]'%zz%41")
    #expect(url.query == "%22%3C%3E%27^`{}|")
    #expect(url.fragment == "%22%3C%3E%60{}^'%C3%A9")
  }

  @Test(arguments: [
    ("http://a@b@h/", "a%40b", "", "h"), ("http://a:b:c@h/", "a", "b%3Ac", "h"),
    ("http://:p@h/", "", "p", "h"),
    ("http://a:@h/", "a", "", "h"), ("http://@h/", "", "", "h"),
    ("http://good.example@h/", "good.example", "", "h"),
    ("http://h/@x", "", "", "h"), ("http://h?@x", "", "", "h"), (#"http://h\@x"#, "", "", "h"),
  ])
  func `user info ends at the last at sign of the authority`(
    _ text: String, _ username: String, _ password: String, _ host: String
  ) throws {
    let url = try WebURL(text)
    #expect(url.username == username)
    #expect(url.password == password)
    #expect(url.host == .name(host))
  }

  @Test func `user info without a name or a password loses its separators`() throws {
    #expect(try WebURL("http://a:@h/").href == "http://a@h/")
    #expect(try WebURL("http://:@h/").href == "http://h/")
    #expect(try WebURL("http://:p@h/").href == "http://:p@h/")
  }

  @Test(arguments: [
    ("", "scheme"), ("h.example/x", "scheme"), ("//h/x", "scheme"), ("ftp://h/", "\"ftp\""),
    ("FILE:///x", "\"file\""),
    ("h.example:80/x", "\"h.example\""), ("1http://h/", "scheme"), ("http://", "host"), ("http:///", "host"),
    ("http://?x", "host"), ("http://u@/", "host"), ("http://:80/", "host"), ("http://h:x/", "port"),
    ("http://h:65536/", "port"), ("http://h:99999999999999999999/", "port"), ("http://h:-1/", "port"),
    ("http://h:8 0/", "port"), ("http://[::1]x/", "host"), ("http://[::1/", "host"), ("http://a b/", "host"),
  ])
  func `a URL that cannot be used is refused with the part that is wrong`(_ text: String, _ part: String) {
    let error = #expect(throws: DirectDNSError.self) { try WebURL(text) }
    #expect(error?.code == .invalidURL)
    #expect(error?.message.contains(part) == true)
  }

  @Test func `an error never shows user info, path or query`() {
    for text in [
      "http://secret:secret@a b/", "http://h:x/secret", "http://[x]/?secret", "http://u:secret/@h",
    ] {
      let error = #expect(throws: DirectDNSError.self) { try WebURL(text) }
      #expect(error.map { "\($0)" }?.contains("secret") == false)
    }
  }

  @Test(arguments: [
    ("", "http://u@h:81/d/e?q"), ("#n", "http://u@h:81/d/e?q#n"), ("?n", "http://u@h:81/d/e?n"),
    ("?", "http://u@h:81/d/e?"), ("n", "http://u@h:81/d/n"), ("./", "http://u@h:81/d/"),
    ("..", "http://u@h:81/"),
    ("/n", "http://u@h:81/n"), (#"\n"#, "http://u@h:81/n"), ("//o/n", "http://o/n"),
    (#"\\o\n"#, "http://o/n"),
    (#"/\o"#, "http://o/"), ("///o", "http://o/"), ("http:n", "http://u@h:81/d/n"),
    ("http:/n", "http://u@h:81/n"),
    ("http://o", "http://o/"), ("http:?n", "http://u@h:81/d/e?n"), ("https:n", "https://n/"),
    ("ws:o", "ws://o/"),
    ("n:80/x", nil), (":n", "http://u@h:81/d/:n"), ("\tn ", "http://u@h:81/d/n"), ("//u2@h", "http://u2@h/"),
    ("mailto:a@b", nil), ("//", nil), ("http://", nil), ("a/./b/../c", "http://u@h:81/d/a/c"),
  ])
  func `a reference is resolved against its base`(_ reference: String, _ href: String?) throws {
    let base = try WebURL("http://u@h:81/d/e?q#f")
    #expect((try? WebURL(reference, base: base))?.href == href)
  }

  @Test(arguments: [
    "/%7e%7E/a%2Fb;c=d,e/!$&'()*+-._~:@[]|", "/a//b///", "/.a/..b/...", "/%/%z/%2",
    "/x?a=%41&b[]=`^|\\{}/../?", "/x#a'#?\\/../",
    "/?", "/#", "/?#",
  ])
  func `bytes that need no change are kept, in a URL and in a reference`(_ target: String) throws {
    for origin in ["http://h", "https://u%7Ex:p%7e@h..a-.b_c:8443", "ws://[2001:db8::1]:81", "http://192.0.2.1"] {
      let url = try WebURL(origin + target)
      #expect(url.href == origin + target)
      #expect(try WebURL(target, base: WebURL(origin + "/d/e?q#f")).href == url.href)
      #expect(try WebURL("http://o/", base: url).href == "http://o/")
    }
  }

  @Test func `a URL of any length is written with another host`() throws {
    for count in Array(90...130) + [1000] {
      let path = "/" + String(repeating: "x", count: count)
      let url = try WebURL("http://u@h" + path)
      #expect(url.text(host: .name("name.example"), userInfo: false) == "http://name.example" + path)
    }
  }

  @Test(arguments: ["http://u:p@h:81/x?y#z", "https://h.example/", "ws://[::1]:81/?#", "wss://192.0.2.1/x#"])
  func `a URL at another host is the one that its text means`(_ text: String) throws {
    let url = try WebURL(text)
    for host in [WebURL.Host.name("other.example"), .address(.ipv4(0xC000_0201)), .address(.ipv6(high: 1, low: 2))] {
      let moved = url.requested(from: host)
      let read = try WebURL(url.text(host: host, userInfo: false, fragment: false))
      #expect(moved == read && moved.layout == read.layout)
    }
  }

  @Test func `a URL written with nothing replaced or left out is itself`() throws {
    let url = try WebURL("http://u:p@h:81/x?y#z")
    #expect(url.text() == url.href)
    #expect(url.text(userInfo: false) == "http://h:81/x?y#z")
    #expect(url.text(fragment: false) == "http://u:p@h:81/x?y")
    #expect(url.text(host: .address(.ipv4(0xC000_0201))) == "http://u:p@192.0.2.1:81/x?y#z")
  }

  @Test func `the Host field has the port only when it is not the default`() throws {
    #expect(try WebURL("https://h:443/").hostAndPort == "h")
    #expect(try WebURL("https://h.:80/").hostAndPort == "h.:80")
    #expect(try WebURL("http://[2001:DB8::1]:8080/").hostAndPort == "[2001:db8::1]:8080")
    #expect(try WebURL("https://h/").effectivePort == 443)
    #expect(try WebURL("ws://h/").effectivePort == 80)
    #expect(try WebURL("ws://h:81/").effectivePort == 81)
  }

  @Test func `a URL can be written with another host and without its secrets`() throws {
    let url = try WebURL("https://u:p@h:8443/x?y#z")
    let address = try WebURL.Host("[2001:db8::9]")
    #expect(url.text(host: address, userInfo: false, fragment: false) == "https://[2001:db8::9]:8443/x?y")
  }

  @Test func `a URL is small enough to be copied`() {
    #expect(MemoryLayout<WebURL>.size <= 64)
  }

  @Test func `a final dot makes another URL`() throws {
    #expect(try WebURL("https://h.example./") != WebURL("https://h.example/"))
    #expect(try WebURL("https://H.example/./") == WebURL("https://h.example:443"))
  }

  @Test(arguments: 0..<16 as Range<UInt64>)
  func `writing a URL and reading it again gives the same URL`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let pieces = [
      "a", "B", "é", "..", ".", "/", "/", "\\", "%2e", "%2F", "%", "?", "#", "@", ":", ":8", "[::1]", "0x7f",
      "1", "☕",
      "例", " ", "'", "\"", "<", "|", "^", "{", "xn--", "-", "\t", ";", "&=",
    ]
    let base = try WebURL("https://u:p@base.example:8443/x/y?q#f")
    var read = 0
    for _ in 0..<300 {
      let tail = random.text(of: pieces, upTo: 9)
      for url in [
        try? WebURL("http://" + tail), try? WebURL("wss://h/" + tail), try? WebURL(tail, base: base),
      ] {
        guard let url else { continue }
        read += 1
        let again = try WebURL(url.href)
        #expect(again == url, "\(tail)")
        #expect(again.href == url.href)
        #expect(url.href.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
      }
    }
    #expect(read > 300)
  }
}

struct OriginTests {
  @Test(arguments: [
    ("https://a.example/x?y#z", "https://a.example:443/"),
    ("http://u:p@A.example", "http://a.example:80/other"),
    ("https://0x7f.1/", "https://127.0.0.1/"),
  ])
  func `spelling, path and user info do not change the origin`(_ one: String, _ other: String) throws {
    #expect(Origin(try WebURL(one)) == Origin(try WebURL(other)))
  }

  @Test(arguments: [
    ("https://a.example/", "http://a.example/"), ("https://a.example/", "https://a.example:8443/"),
    ("https://a.example/", "https://www.a.example/"), ("https://a.example/", "https://a.example./"),
    ("http://a.example/", "ws://a.example/"),
  ])
  func `scheme, host and port do, a sub-domain and a final dot included`(_ one: String, _ other: String) throws {
    #expect(Origin(try WebURL(one)) != Origin(try WebURL(other)))
  }

  @Test(arguments: [
    ("https://a.example:443/x", "https://a.example"), ("http://[2001:db8::1]:8080/", "http://[2001:db8::1]:8080"),
  ])
  func `the text leaves the default port out`(_ url: String, _ text: String) throws {
    #expect(Origin(try WebURL(url)).description == text)
  }
}
