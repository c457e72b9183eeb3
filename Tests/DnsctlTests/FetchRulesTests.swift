// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite struct `The rules of dnsctl fetch` {
  @Test(
    arguments: [
      (206, "bytes 5-9/10", ResumeRule.Verdict.append(5)),
      (206, "bytes 5-9/*", .refused("the server does not say how long the whole is")),
      (206, "bytes 5-8/10", .refused("the server sends less than what is missing")),
      (206, "bytes 0-9/10", .refused("it has 5 bytes, and the server sends from byte 0 on")),
      (206, nil, .refused("the server does not say what part it sends")),
      (206, "bytes 5-4/10", .refused("the server does not say what part it sends")),
      (206, "bytes 5-10/10", .refused("the server does not say what part it sends")),
      (206, "lines 5-9/10", .refused("the server does not say what part it sends")),
      (200, nil, .startOver), (200, "bytes 5-9/10", .startOver), (203, nil, .startOver),
      // These bring no whole file.
      (201, nil, .refused("the server answered 201")), (204, nil, .refused("the server answered 204")),
      (416, "bytes */5", .complete), (416, "bytes */4", .refused("it has 5 bytes, and the server's has 4")),
      (416, nil, .refused("it has 5 bytes, and the server has none behind them and does not say how many before")),
      (206, "bytes 5-9223372036854775806/9223372036854775807", .append(9_223_372_036_854_775_802)),
      (206, "bytes 5-9223372036854775808/*", .refused("the server does not say what part it sends")),
      (416, "bytes */9223372036854775807", .refused("it has 5 bytes, and the server's has 9223372036854775807")),
      (404, nil, .refused("the server answered 404")), (304, nil, .refused("the server answered 304")),
    ] as [(Int, String?, ResumeRule.Verdict)])
  func `a file is continued only by what belongs behind it`(
    _ status: Int, _ range: String?, _ verdict: ResumeRule.Verdict
  ) {
    var fields: HTTPFields = [:]
    fields[.contentRange] = range
    #expect(ResumeRule.verdict(.init(length: 5, record: nil), status: status, fields: fields) == verdict)
    // What is known to be ours is fetched anew instead.
    guard case .refused(let reason) = verdict, status == 206 || status == 416, let record = ResumeRecord("1 - -") else {
      return
    }
    #expect(
      ResumeRule.verdict(.init(length: 5, record: record), status: status, fields: fields) == .askAnew(reason))
  }

  @Test func `a part whose two lengths differ is not taken`() {
    let fields: HTTPFields = [.contentRange: "bytes 5-9/10", .contentLength: "20"]
    #expect(
      ResumeRule.verdict(.init(length: 5, record: nil), status: 206, fields: fields)
        == .refused("the server says that it sends 5 bytes, and then 20"))
  }

  @Test(
    arguments: [
      ("1 10 \"a\"", "bytes 5-9/10", "\"a\"", nil, .append(5)),
      ("1 10 \"a\"", "bytes 5-9/*", nil, nil, .append(5)),
      ("1 - -", "bytes 5-9/10", "\"b\"", nil, .append(5)),
      ("1 10 \"a\"", "bytes 5-7/*", "\"a\"", nil, .askAnew("the server sends less than what is missing")),
      (
        "1 11 \"a\"", "bytes 5-9/10", "\"a\"", nil,
        .askAnew("it began as a part of 11 bytes, and the server's has 10")
      ),
      ("1 10 \"a\"", "bytes 5-9/10", "\"b\"", nil, .askAnew("it began as a part of another version")),
      ("1 10 \"a\"", "bytes 5-9/10", "W/\"a\"", nil, .askAnew("it began as a part of another version")),
      ("1 10 Tue, 14 Nov 2023 22:13:50 GMT", "bytes 5-9/10", nil, "Tue, 14 Nov 2023 22:13:50 GMT", .append(5)),
      (
        "1 10 Tue, 14 Nov 2023 22:13:50 GMT", "bytes 5-9/10", "\"x\"", "Tue, 14 Nov 2023 22:13:51 GMT",
        .askAnew("it began as a part of another version")
      ),
    ] as [(String, String, String?, String?, ResumeRule.Verdict)])
  func `a file goes on with the version that it began with`(
    _ record: String, _ range: String, _ tag: String?, _ modified: String?, _ verdict: ResumeRule.Verdict
  ) throws {
    var fields: HTTPFields = [.contentRange: range]
    (fields[.eTag], fields[.lastModified]) = (tag, modified)
    let record: ResumeRecord = try #require(ResumeRecord(record))
    let beginning = OutputFile.Beginning(length: 5, record: record)
    #expect(ResumeRule.verdict(beginning, status: 206, fields: fields) == verdict)
  }

  private static let date = "Tue, 14 Nov 2023 22:13:50 GMT"
  private static let later = "Tue, 14 Nov 2023 22:13:51 GMT"

  @Test(
    arguments: [
      (200, "10", "\"a b\"", nil, nil, "1 10 \"a b\""), (200, nil, "W/\"a\"", nil, nil, "1 - -"),
      (200, "10", "W/\"a\"", date, later, "1 10 \(date)"), (200, "10", nil, date, date, "1 10 -"),
      (200, "10", nil, date, nil, "1 10 -"), (200, "-1", nil, "yesterday", later, "1 - -"),
      (200, "99999999999999999999", nil, nil, nil, "1 - -"), (206, "10", "\"a\"", nil, nil, nil),
      (404, "10", "\"a\"", nil, nil, nil),
    ] as [(Int, String?, String?, String?, String?, String?)])
  func `what is kept of a version is its length and what If-Range takes`(
    _ status: Int, _ length: String?, _ tag: String?, _ modified: String?, _ date: String?, _ text: String?
  ) {
    var response = HTTPResponse(status: .init(code: status))
    (response.headerFields[.contentLength], response.headerFields[.eTag]) = (length, tag)
    (response.headerFields[.lastModified], response.headerFields[.date]) = (modified, date)
    let record = ResumeRecord(of: response)
    #expect(record?.text == text)
    #expect(record.map { ResumeRecord($0.text) == $0 } ?? true)
  }

  @Test(arguments: ["", "1", "1 10", "2 10 -", "1 x -", "1 10 W/\"a\"", "1 10 \"a\r\nX: y\"", "1 10 soon", "1 10 \""])
  func `a note that somebody else has written is none`(_ text: String) {
    #expect(ResumeRecord(text) == nil)
  }

  @Test(
    arguments: [
      (.connectionLost, false), (.connectFailed, true), (.upstreamFailed, true), (.timedOut, true), (.timedOut, false),
      (.tlsFailed, nil), (.malformedResponse, nil), (.nameNotFound, nil), (.addressForbidden, nil),
      (.connectFailed, false),
    ] as [(DirectDNSError.Code, Bool?)])
  func `what may do harm twice is tried again only if it was not sent, and what fails again is not`(
    _ code: DirectDNSError.Code, _ isUnsent: Bool?
  ) {
    var error = DirectDNSError(code, "")
    error.mayHaveReachedServer = isUnsent == false
    for method in [HTTPRequest.Method.get, .put, .post, .patch] {
      let isAllowed = method == .get || method == .put ? isUnsent != nil : isUnsent == true
      #expect(FetchRetryRule.allows(method, isReplayable: true, after: error) == isAllowed, "\(method)")
      #expect(!FetchRetryRule.allows(method, isReplayable: false, after: error))
    }
  }

  @Test(arguments: [(HTTPRequest.Method.get, true), (.put, true), (.post, false)])
  func `a status is an answer, after which what may do harm twice is not tried again`(
    _ method: HTTPRequest.Method, _ isAllowed: Bool
  ) {
    #expect(FetchRetryRule.allows(method, isReplayable: true, after: nil) == isAllowed)
    #expect(!FetchRetryRule.allows(method, isReplayable: false, after: nil))
  }

  @Test(
    arguments: [
      (1, nil, 1), (2, nil, 2), (5, nil, 16), (10, nil, 512), (11, nil, 600), (500, nil, 600), (3, 0, 0),
      (1, 120, 120), (1, 601, 601), (1, 3600, 3600),
    ] as [(Int, Int64?, Int64)])
  func `the pause is the server's, or doubles`(_ tries: Int, _ asked: Int64?, _ seconds: Int64) {
    let retryAfter = asked.map { Duration.seconds($0) }
    #expect(FetchRetryRule.pause(afterTries: tries, retryAfter: retryAfter) == .seconds(seconds))
  }

  @Test(arguments: ["a", "\u{80}", "\u{200b}"])
  func `a reason phrase that is very long is cut in the message`(_ character: String) throws {
    let status = HTTPResponse.Status(code: 503, reasonPhrase: String(repeating: character, count: 30_000))
    let response = DirectResponse(head: HTTPResponse(status: status), url: try WebURL("http://shop.test/"))
    let message = try #require(FetchFailure(status: response, isTransient: false).message)
    #expect(message.count < 600 && message.hasSuffix("…."), "\(message.prefix(600))")
  }

  @Test(
    arguments: [
      (TransferFailure(.init(reason: .timedOut, timer: .firstByte)), "--max-time"),
      (TransferFailure(.init(reason: .timedOut, timer: .idle)), "--speed-time"),
      (TransferFailure(.init(reason: .timedOut, timer: .total)), "--max-time"),
      (TransferFailure(.tls("self-signed certificate")), "--cacert"),
      (TransferFailure(.tls("tlsv13 alert certificate required")), "--cert"),
    ] as [(TransferFailure, String)])
  func `what is to be changed is named by its option`(_ failure: TransferFailure, _ option: String) throws {
    let url = try WebURL("https://shop.test/")
    let job = FetchJob(
      index: 0, text: "\(url)", url: url, request: HTTPRequest(method: .get, url: url), body: .none,
      destination: .standardOutput, wantsHeadAlone: false)
    let settings = try ClientSettings(DirectClientConfiguration())
    let context = RequestContext(url, RequestTimeouts(), settings, isRetryable: true)
    #expect(FetchFailure(context.error(failure), job).message?.hasSuffix(" (\(option)).") == true)
  }

  @Test(arguments: [
    ("-sSo file", "-s -S -o file"), ("-ofile -fL", "-o file -f -L"), ("-da=b=c", "-d a=b=c"), ("-d -ab", "-d -ab"),
    ("--data -ab -ab", "--data -ab -a -b"), ("--data=x -ab", "--data=x -a -b"), ("--silent -vZ", "--silent -v -Z"),
    ("-C- -", "-C - -"), ("-T - -OO", "-T - -O -O"), ("-- -sS", "-- -sS"), ("-unice:p=w", "-u nice:p=w"), ("-o", "-o"),
  ])
  func `short options are taken apart as curl does`(_ words: String, _ separated: String) throws {
    let words = words.split(separator: " ").map(String.init)
    try #expect(OptionWords.separated(["fetch"] + words).dropFirst().joined(separator: " ") == separated)
  }

  @Test(
    arguments: [
      ("a.pem", "a.pem", nil), ("a.pem:pass:word", "a.pem", "pass:word"), ("a\\:b.pem:x", "a:b.pem", "x"),
      ("a\\\\b:x", "a\\b", "x"), ("c\\d", "c\\d", nil),
    ] as [(String, String, String?)])
  func `a certificate's file may have a password behind a colon`(
    _ text: String, _ file: String, _ password: String?
  ) throws {
    let flags = try ConnectionFlags.parse(["--cert", text, "--key", "k"])
    #expect(
      try flags.identity { _ in nil }
        == ClientIdentity(certificate: file, key: "k", password: password.map { Secret($0) }))
  }

  @Test func `a proxy and timeouts are the client's`() throws {
    let flags = try ConnectionFlags.parse([
      "-x", "proxy.example:3128", "--noproxy", "a,b", "--connect-timeout", "1.5", "-m", "9", "-y", "4",
      "--http2-prior-knowledge",
    ])
    #expect(try flags.proxyChoice { _ in nil } == .url(WebURL("http://proxy.example:3128"), except: "a,b"))
    #expect(
      flags.timeouts
        == RequestTimeouts(
          connect: .milliseconds(1500), firstByte: .seconds(9), idle: .seconds(4), total: .seconds(9)))
    #expect(flags.httpVersion == .http2)
    let none = try ConnectionFlags.parse([])
    #expect(try none.proxyChoice { _ in nil } == .none)
    #expect(try ConnectionFlags.parse(["-x", ""]).proxyChoice { _ in nil } == .none)
    #expect(
      none.timeouts.connect == .seconds(5) && none.timeouts.firstByte == .seconds(30) && none.timeouts.idle == nil)
    #expect(none.timeouts.total > .seconds(86_400) && none.httpVersion == .automatic)
    // 0 is the default, as in curl.
    let zero = try ConnectionFlags.parse(["--connect-timeout", "0", "-m", "0", "-y", "0.0"])
    #expect(zero.timeouts == none.timeouts)
  }

  @Test(
    arguments: [
      (["--http1.1", "--http2"], .automatic), (["--http2", "--http1.1"], .http1),
      (["--http2-prior-knowledge", "--http1.1"], .http1), (["--http1.1", "--http2-prior-knowledge"], .http2),
    ] as [([String], HTTPVersionChoice)])
  func `of several versions of HTTP the last one counts`(_ flags: [String], _ version: HTTPVersionChoice) throws {
    #expect(try ConnectionFlags.parse(flags).httpVersion == version)
  }

  @Test(
    arguments: [
      ("shop.example", nil, "http://shop.example/"), ("localhost:8080/x", nil, "http://localhost:8080/x"),
      ("shop.example/?to=https://x.example", nil, "http://shop.example/?to=https://x.example"),
      ("HTTPS:shop.example", nil, "https://shop.example/"), ("http:/shop.example", nil, "http://shop.example/"),
      ("ftp://shop.example", nil, nil), ("ws://shop.example", nil, nil), ("http://", nil, nil),
      ("shop.example/a/", "/x/y?.txt", "http://shop.example/a/y%3F.txt"),
      ("shop.example/a", "y", "http://shop.example/a"),
      ("shop.example/a/", "-", "http://shop.example/a/"), ("shop.example/", "a:b", "http://shop.example/a%3Ab"),
    ] as [(String, String?, String?)])
  func `a URL is read as people write it`(_ text: String, _ upload: String?, _ url: String?) {
    let read = try? FetchJob.url(text, upload: upload).href
    #expect(read == url)
  }

  @Test(arguments: ["ftp", "ws", "socks5"]) func `another scheme is told which ones there are`(_ scheme: String) {
    let error = #expect(throws: CommandError.self) { try FetchJob.url("\(scheme)://shop.example", upload: nil) }
    #expect(error?.message == "\(scheme) cannot be fetched: http and https can." && error?.status == .noAnswer)
  }

  @Test(arguments: [(["--max-redirs", "-1"], Int.max), (["--max-redirs", "3"], 3), ([], 20)])
  func `redirects have a limit`(_ arguments: [String], _ limit: Int) throws {
    #expect(try RequestFlags.parse(arguments).redirects?.limit == limit)
    #expect(try RequestFlags.parse(arguments + ["-L", "--no-location"]).redirects == nil)
    #expect(try RequestFlags.parse(arguments + ["--no-location", "-L"]).redirects?.limit == limit)
  }
}

@Suite struct `The progress bar` {
  private static let start = ResolverInstant(nanoseconds: 0)

  private static func second(_ second: Double) -> ResolverInstant {
    ResolverInstant(nanoseconds: Int64(second * 1_000_000_000))
  }

  private static func bar(from offset: Int64 = 0, of rest: Int64?, _ received: Int, at second: Double) -> ProgressBar {
    var bar = ProgressBar(label: "disk.iso", now: start)
    bar.begin(at: offset, expecting: rest, now: start)
    bar.add(received, now: Self.second(second))
    return bar
  }

  @Test(
    arguments: [
      (0, 200_000_000, 50_000_000, 78, "disk.iso   25%  [###------------]  50.0 MB of 200.0 MB  25.0 MB/s  0:06 left"),
      (
        100_000_000, 100_000_000, 50_000_000, 78,
        "disk.iso   75%  [###########----]  150.0 MB of 200.0 MB  25.0 MB/s  0:02 left"
      ),
      (0, 200_000_000, 50_000_000, 60, "disk.iso   25%  50.0 MB of 200.0 MB  25.0 MB/s  0:06 left"),
      (0, 200_000_000, 50_000_000, 20, "disk.iso   25%  50.0"),
      (0, nil, 50_000_000, 78, "disk.iso  50.0 MB  25.0 MB/s"),
      (0, 10, 0, 78, "disk.iso    0%  [---------------]  0 B of 10 B  0 B/s"),
      (0, 10, 20, 78, "disk.iso  20 B of 10 B  10 B/s"), (0, 0, 0, 78, "disk.iso  0 B of 0 B  0 B/s"),
    ] as [(Int64, Int64?, Int, Int, String)])
  func `says how much, how fast and how long`(
    _ offset: Int64, _ rest: Int64?, _ received: Int, _ width: Int, _ line: String
  ) {
    let bar = Self.bar(from: offset, of: rest, received, at: 2)
    #expect(bar.line(now: Self.second(2), width: width) == line)
    #expect(bar.line(now: Self.second(2), width: width).count <= width)
  }

  /// Numbers that a server may send, or that the system may give.
  private static let extremes: [Int64] = [.min, -1, 0, 1, 50, 99, Int64(Int32.max) + 1, .max - 50, .max - 1, .max]

  @Test(arguments: extremes, extremes) func `has a line for any length that a server tells`(
    _ offset: Int64, _ rest: Int64
  ) {
    guard offset >= 0 else { return }
    for received in [0, 1, 1_000_000] {
      // A file of such a length that nothing more fits does not grow.
      guard offset <= .max - Int64(received) else { continue }
      for second in [0, 1e-9, 2, 9e9] {
        let bar = Self.bar(from: offset, of: rest, received, at: second)
        for width in [0, 20, 78] {
          #expect(bar.line(now: Self.second(second), width: width).count <= width)
          #expect(bar.line(now: Self.second(second), width: width, isDone: true).count <= width)
        }
      }
    }
  }

  @Test func `ends with the whole`() {
    let bar = Self.bar(of: 7_384_000, 7_384_000, at: 2)
    #expect(
      bar.line(now: Self.second(64), width: 78, isDone: true)
        == "disk.iso  100%  [###############]  7.4 MB  115.4 kB/s  in 1:04")
  }

  @Test func `goes by the last five seconds`() {
    var bar = Self.bar(of: 1_000_000, 100_000, at: 1)
    for second in 2...20 { bar.add(second > 10 ? 1000 : 10_000, now: Self.second(Double(second))) }
    #expect(bar.line(now: Self.second(20), width: 78).hasSuffix("  1.0 kB/s  13:20 left"))
    // Nothing comes any more.
    #expect(bar.line(now: Self.second(40), width: 78).hasSuffix("  0 B/s"))
  }

  @Test(arguments: [
    (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_949, "999.9 kB"), (999_950, "1.0 MB"), (1_550_000_000, "1.6 GB"),
    (2_000_000_000_000, "2.0 TB"), (-1, "0 B"), (.min, "0 B"), (.max, "9223372.0 TB"),
  ])
  func `counts bytes in powers of a thousand`(_ bytes: Int64, _ text: String) {
    #expect(ByteCount.text(bytes) == text)
  }

  @Test(arguments: [(0, "0:00"), (67, "1:07"), (3600, "1:00:00"), (3_599, "59:59"), (-3, "0:00")])
  func `shows time as clocks do`(_ seconds: Int64, _ text: String) {
    #expect(ProgressBar.clock(.seconds(seconds)) == text)
  }

  @Test func `stands in lines that are drawn over, and below what is said`() {
    var fixture = CommandFixture()
    fixture.isErrorsTerminal = true
    let board = ProgressBoard(fixture.context)
    board.add(1, label: "a")
    board.add(2, label: "b")
    board.draw()
    board.draw()
    board.say("dnsctl: said\n")
    board.end(1)
    board.end(2, saying: "dnsctl: failed\n")
    let lines = "a  0 B  0 B/s\nb  0 B  0 B/s\n"
    #expect(
      fixture.errors.writes == [
        "\r\u{1b}[J" + lines, "\u{1b}[2A\r\u{1b}[J" + lines, "\u{1b}[2A\r\u{1b}[Jdnsctl: said\n" + lines,
        "\u{1b}[2A\r\u{1b}[Ja  0 B  0 B/s  in 0:00\nb  0 B  0 B/s\n", "\u{1b}[1A\r\u{1b}[Jdnsctl: failed\n",
      ])
  }
}
