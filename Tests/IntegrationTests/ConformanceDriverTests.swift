// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import Testing

/// The program through which other people's cases reach the library: it must hide nothing.
struct ConformanceDriverTests {
  /// The answers to lines on standard input.
  private func answers(_ lines: [String], _ arguments: [String] = []) throws -> [String] {
    let process = Process()
    let (input, output) = (Pipe(), Pipe())
    process.executableURL = ServerFixture.product("ConformanceDriver")
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try ServerFixture.launch(process)
    try input.fileHandleForWriting.write(contentsOf: Data(lines.map { $0 + "\n" }.joined().utf8))
    try input.fileHandleForWriting.close()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text.split(separator: "\n").map(String.init)
  }

  private func question(_ op: String, _ input: String) -> String { #"{"id":1,"op":"\#(op)","input":\#(input)}"# }

  @Test(arguments: [
    "x", "[]", "{}", #"{"id":1,"op":"url.parse"}"#, #"{"id":1,"op":"url.prase","input":{}}"#,
    #"{"id":1,"op":"url.parse","input":{}}"#, #"{"id":1,"op":"cookies.run","input":{"steps":[{"op":"eat"}]}}"#,
    #"{"id":1,"op":"redirect.next","input":{"request":{},"response":{}}}"#,
  ])
  func `a line that is malformed and a verb that nobody knows are failures, and no refusals`(_ line: String) throws {
    let answer = try #require(try answers([line]).first)
    #expect(answer.contains(#""crash":"#) && !answer.contains("unsupported") && !answer.contains(#""ok""#), "\(answer)")
  }

  @Test(arguments: [
    ("url.parse", #"{"url":"http://a b/"}"#, #""ok":false"#),
    ("http1.parse", #"{"kind":"request","wire_b64":"R0VUIC8gSFRUUC8xLjENCg0K"}"#, #""valid":true"#),
    ("ip.policy", #"{"ip":"10.0.0.1"}"#, #""allow":false"#),
    // Time has fractions.
    (
      "cookies.run",
      #"{"steps":[{"op":"set","url":"http://a.test/","set_cookie":["a=b; max-age=1"]},{"op":"advance","seconds":0.6},{"op":"get","url":"http://a.test/"},{"op":"advance","seconds":0.6},{"op":"get","url":"http://a.test/"}]}"#,
      #""cookie":["a=b",""]"#
    ),
    ("cookies.domain_match", #"{"host":"www.A.test","domain":".a.TEST"}"#, #""match":true"#),
    ("cookies.domain_match", #"{"host":"ba.test","domain":"a.test"}"#, #""match":false"#),
    ("cookies.domain_match", #"{"host":"192.0.2.1","domain":"2.1"}"#, #""match":false"#),
    ("cookies.path_match", #"{"request_path":"/ab","cookie_path":"/a"}"#, #""match":false"#),
    ("cookies.default_path", #"{"path":"/a/b"}"#, #""path":"\/a""#),
    ("cookies.canonical_host", #"{"host":"WWW.A.Test."}"#, #""canonical":"www.a.test""#),
    ("cookies.domain_attr", #"{"host":"www.a.test","domain":".a.test"}"#, #""accepted":true,"domain":"a.test""#),
    ("cookies.domain_attr", #"{"host":"www.a.test","domain":"b.test"}"#, #""accepted":false"#),
    // `Location` can be blank, sent twice, and sent with two meanings.
    ("redirect.next", Self.redirect(#"[" "]"#), #""follow":false"#),
    ("redirect.next", Self.redirect(#"["\/x","\/x"]"#), #""follow":true"#),
    ("redirect.next", Self.redirect(#"["\/x","\/y"]"#), #""follow":false"#),
    // What an earlier hop dropped stays dropped, and the jar is asked anew.
    ("redirect.next", Self.redirect(#""/x""#, Self.history), #""cookie":"a=b","follow":true"#),
    (
      "redirect.next", Self.redirect(#""/x""#, Self.history),
      #""headers":{"Host":"a.test","originalUrl":"https:\/\/a.test\/x"}"#
    ),
  ])
  func `a verb answers what the library does`(_ op: String, _ input: String, _ part: String) throws {
    let answer = try #require(try answers([question(op, input)]).first)
    #expect(answer.contains(part), "\(answer)")
  }

  private static let history =
    #","via":["https://a.test/","https://b.test/"],"initial_headers":[["Authorization","x"]],"#
    + #""jar":[{"url":"https://a.test/","set_cookie":"a=b"}]"#

  private static func redirect(_ location: String, _ history: String = "") -> String {
    #"{"request":{"method":"GET","url":"https://a.test/","headers":[]\#(history)},"response":{"status":302,"location":\#(location)}}"#
  }

  @Test func `a session keeps a provider's answers across a restart`() async throws {
    var records = RecordTable()
    records.add("a.test", "192.0.2.1", ttl: 300)
    let provider = try await FakeProvider.start(records: records)
    let resolve = #"{"cmd":"resolve","name":"a.test"}"#
    let answers = try answers(
      [resolve, #"{"cmd":"restart","restart":true}"#, resolve],
      ["session", "--doh", provider.url("/dns-query"), "--config-json", "{}"])
    try #require(answers.count == 3, "\(answers)")
    #expect(answers[0].contains("192.0.2.1") && answers[1] == "{}" && answers[2].contains("192.0.2.1"), "\(answers)")
    #expect(provider.requests.map(\.name) == ["a.test"])
    await provider.stop()
  }

  @Test func `a session goes on after a restart, and counts an error as what it is`() throws {
    let none = "http://127.0.0.1:\(try LoopbackPort.free())/dns-query"
    let lines = [
      #"{"cmd":"resolve","name":"a.test"}"#, #"{"cmd":"fallback","fallback":{"addresses":["192.0.2.2","192.0.2.1"]}}"#,
      #"{"cmd":"resolve","name":"b.test"}"#, #"{"cmd":"restart","restart":true}"#, #"{"cmd":"clock","clock":0.5}"#,
      #"{"cmd":"resolve","name":"a..test"}"#, #"{"cmd":"nap"}"#,
    ]
    let answers = try answers(lines, ["session", "--doh", none, "--config-json", "{}"])
    #expect(answers.count == lines.count)
    #expect(answers[0].contains(#""rcode":2"#) && answers[5].contains(#""rcode":-1"#))
    #expect(answers[2].contains("192.0.2.1") && answers[2].contains(#""error":null"#))
    #expect(answers[1] == "{}" && answers[3] == "{}" && answers[4] == "{}" && answers[6].contains("unsupported"))
  }
}
