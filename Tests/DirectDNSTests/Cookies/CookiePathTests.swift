// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct CookiePathTests {
  @Test(arguments: [
    ("/", "/"), ("/a", "/"), ("/a/", "/a"), ("/a/b", "/a"), ("/a/b/", "/a/b"), ("//", "/"), ("/é/x", "/é"),
    ("/%2F/x", "/%2F"), ("", "/"), ("a/b", "/"), ("a", "/"),
  ])
  func `the default path is the folder of the URL's path`(_ path: String, _ expected: String) {
    #expect(CookiePath.defaultPath(of: path) == expected)
  }

  @Test(arguments: [
    ("/a", "/a", true), ("/a/", "/a", true), ("/a/b", "/a", true), ("/a/b", "/a/", true), ("/ab", "/a", false),
    ("/a", "/a/", false), ("/A", "/a", false), ("/", "/", true), ("/a", "/", true), ("/", "/a", false),
    ("/%61", "/a", false), ("/a?x", "/a", false),
  ])
  func `a path matches itself and what lies below it`(_ request: String, _ path: String, _ matches: Bool) {
    #expect(CookiePath.matches(request, path) == matches)
  }
}
