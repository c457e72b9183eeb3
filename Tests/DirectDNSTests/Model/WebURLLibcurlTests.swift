// SPDX-License-Identifier: Apache-2.0
import CDirectDNSCurl
import Testing

@testable import DirectDNS

/// What libcurl is given is this library's canonical form: it must read the same host in it, or refuse it.
struct WebURLLibcurlTests {
  @Test(arguments: [
    "http://h/", "https://WWW.Example.com:443/a?b#c", "http://h.example./", "http://a.b_c.example:8080/",
    "http://r3---sn-x.h/", "http://☕.example/", "http://xn--53h.example/", "http://%68/",
    "http://ｈ.example/", "http://192.0.2.1/", "http://0xc0.0.2.1/", "http://3221225985/",
    "http://192.0.513:81/", "http://192.0.2.1./", "http://１９２.0.2.1/", "http://0300.0.02.01/",
    "http://%31%39%32.0.2.1/", "http://[2001:DB8::1]/", "http://[::ffff:192.0.2.1]:81/",
    "http://[0:0::0]/", "http://u:p@h/", "http://a@b@h/", "http://u@[::1]:81/", "http://h\\@x/",
    "http://h/@x", "http://h?@x", "http://h#@x", "http://x:y@h:81/", "ws://h/", "wss://[::1]/",
  ])
  func `libcurl reads the same host in the canonical form`(_ text: String) throws {
    let url = try WebURL(text)
    #expect(hostAsLibcurlReads(url.href) == url.host.description)
  }

  @Test(arguments: [
    "http://a!b/", "http://a$b/", "http://a&b/", "http://a'b/", "http://a(b)/", "http://a*b/",
    "http://a+b/", "http://a,b/", "http://a;b/", "http://a=b/", "http://a~b/", "http://a\"b/",
    "http://a`b/", "http://a{b}/", "http://a..b/", "http://./", "http://.a/", "http://a../",
    "http://0x7f.1.x/", "http://1.2.3.4.x/", "http://256.256.256.256.a/", "http://-/", "http://_/",
    "http://1.2.3.4x/", "http://0xg/", "http://u%40x@h/", "http://u%2Fx:p%3A@h/", "http://;@h/",
    "http://%5B@h/",
  ])
  func `libcurl reads the same host or refuses the URL`(_ text: String) throws {
    let url = try WebURL(text)
    let host = hostAsLibcurlReads(url.href)
    #expect(host == nil || host == url.host.description)
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func `libcurl never reads another host in a URL however it was written`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let pieces = [
      "a", "B", "é", ".", "..", "/", "\\", "%2e", "%2F", "%40", "%", "?", "#", "@", ":", ":8", "[::1]",
      "[::7f00:1]", "0x7f", "1", "☕", "。", "'", "\"", ";", "|", "{", "xn--", "-", "_", "&=", "~", "$",
      "*",
    ]
    var agreed = 0
    for _ in 0..<400 {
      guard let url = try? WebURL("http://" + random.text(of: pieces, upTo: 7)) else { continue }
      guard let host = hostAsLibcurlReads(url.href) else { continue }
      agreed += 1
      #expect(host == url.host.description, "\(url)")
    }
    #expect(agreed > 40)
  }
}

/// The host that libcurl's parser finds in a URL; nil when it refuses the URL.
private func hostAsLibcurlReads(_ href: String) -> String? {
  guard let url = unsafe curl_url() else { return nil }
  defer { unsafe curl_url_cleanup(url) }
  // Without web sockets, which a libcurl may be built without, their schemes are unknown to it.
  guard unsafe curl_url_set(url, CURLUPART_URL, href, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK else { return nil }
  var host: UnsafeMutablePointer<CChar>?
  guard unsafe curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK, let host = unsafe host else { return nil }
  defer { unsafe curl_free(host) }
  return unsafe String(cString: host)
}
