// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DnsctlCommands

@Suite struct `dnsctl restore` {
  private func restore(_ lines: String...) async -> CommandFixture.Outcome {
    await CommandFixture(input: ScriptedInput(lines.map { $0 + "\n" })).run(["restore"])
  }

  @Test func `puts the name back, and shows the cookies that may be kept`() async {
    let outcome = await restore(
      #"{"originalUrl":"https://shop.example/cart#part","address":"8.8.8.8","status":302,"headers":[["Location","https://8.8.8.8/pay"],["Set-Cookie","a=1; Domain=8.8.8.8; Secure; HttpOnly; SameSite=Lax; Max-Age=60"],["X","8.8.8.8"]]}"#
    )
    #expect(
      outcome.output == """
        {"headers":[["Location","https://shop.example/pay#part"],\
        ["Set-Cookie","a=1; Secure; HttpOnly; SameSite=Lax; Max-Age=60"],["X","8.8.8.8"]],"rejectedHeaders":[],\
        "location":"https://shop.example/pay#part","cookies":[{"name":"a","value":"1","domain":"shop.example",\
        "hostOnly":true,"path":"/","secure":true,"httpOnly":true,"sameSite":"lax","expires":1700000060}],\
        "rejectedCookies":[],"error":null}

        """)
    #expect(outcome.status == 0)
  }

  @Test func `knows any address of the answer, and takes 200 for a status`() async {
    let outcome = await restore(
      #"{"originalUrl":"http://shop.example/x","address":["8.8.8.8","2606:4700::7"],"headers":[["Content-Location","http://[2606:4700::7]/y"]]}"#
    )
    #expect(
      outcome.output == """
        {"headers":[["Content-Location","http://shop.example/y"]],"rejectedHeaders":[],"location":null,"cookies":[],\
        "rejectedCookies":[],"error":null}

        """)
  }

  @Test func `names no target where the Location is blank`() async {
    let outcome = await restore(
      #"{"originalUrl":"http://shop.example/x","address":"8.8.8.8","status":302,"headers":[["Location",""],["Content-Location",""]]}"#
    )
    #expect(
      outcome.output == """
        {"headers":[["Location",""],["Content-Location",""]],"rejectedHeaders":[],"location":null,"cookies":[],\
        "rejectedCookies":[],"error":null}

        """)
  }

  @Test(arguments: [("example", "is a public suffix"), ("other.example", "may not set cookies for")])
  func `says why a cookie may not be kept`(_ domain: String, _ reason: String) async {
    let outcome = await restore(
      #"{"originalUrl":"http://shop.example/","address":"8.8.8.8","headers":[["Set-Cookie","a=1; Domain=\#(domain)"]]}"#
    )
    #expect(outcome.output.contains(#""cookies":[],"rejectedCookies":["#))
    #expect(outcome.output.contains(reason), "\(outcome.output)")
    #expect(outcome.status == 0)
  }

  @Test(arguments: [" /x", "/x ", "\\t/x \\t"])
  func `takes blanks around a value for no part of it`(_ location: String) async {
    let outcome = await restore(
      #"{"originalUrl":"https://shop.example/","address":"8.8.8.8","status":302,"headers":[["Location","\#(location)"],["Set-Cookie"," id=7 "]]}"#
    )
    #expect(
      outcome.output.hasPrefix(
        #"{"headers":[["Location","https://shop.example/x"],["Set-Cookie","id=7"]],"rejectedHeaders":[],"location":"https://shop.example/x""#
      ),
      "\(outcome.output)")
    #expect(outcome.output.contains(#""name":"id","value":"7""#))
  }

  @Test func `leaves out a field that no message may have, and names it`() async {
    let outcome = await restore(
      #"{"originalUrl":"http://shop.example/x","address":"8.8.8.8","headers":[["X","a\u0000b"],["b d","1"],["","2"],["Location","http://8.8.8.8/y"]]}"#
    )
    #expect(
      outcome.output.hasPrefix(
        #"{"headers":[["Location","http://shop.example/y"]],"rejectedHeaders":["X: headers[0][1] "#))
    #expect(
      outcome.output.contains(#","location":"http://shop.example/y""#) && outcome.status == 0, "\(outcome.output)")
    #expect(outcome.output.contains("headers[1][0]") && outcome.output.contains("headers[2][0]"))
  }

  @Test(arguments: [
    ("x", "The line is not JSON"), ("{}", "originalUrl is missing"),
    (#"{"originalUrl":"http://a.example/"}"#, "address is missing"),
    (#"{"originalUrl":"http://a.example/","address":["x"]}"#, "address[0] is \\\"x\\\""),
    (#"{"originalUrl":"/","address":"8.8.8.8"}"#, "The URL has no scheme"),
    (#"{"originalUrl":"http://a.example/","address":"8.8.8.8","status":99}"#, "status is 99"),
    (#"{"originalUrl":"http://a.example/","address":"8.8.8.8","headers":{}}"#, "headers is an object"),
    (
      #"{"originalUrl":"http://a.example/","address":"8.8.8.8","address":"8.8.4.4"}"#,
      "The key address is there for the second time"
    ),
  ])
  func `answers a line that it cannot read with its error, and goes on`(_ line: String, _ part: String) async {
    let outcome = await restore(line, #"{"originalUrl":"http://a.example/","address":"8.8.8.8"}"#)
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(
      lines.first?.hasPrefix(
        #"{"headers":null,"rejectedHeaders":null,"location":null,"cookies":null,"rejectedCookies":null,"error":{"#)
        == true)
    #expect(lines.first?.contains(part) == true, "\(outcome.output)")
    #expect(outcome.status == 1)
  }
}
