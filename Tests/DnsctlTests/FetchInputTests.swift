// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite(.timeLimit(.minutes(2))) struct `Standard input of dnsctl fetch` {
  @Test(arguments: [
    (["-H", "@-"], "X-Key: 1\nX-More: 2\n", "X-Key: 1\r\nX-More: 2\r\n"),
    (["-u", "@-"], "me:pass\n", "Authorization: Basic bWU6cGFzcw==\r\n"),
    (["-b", "-"], "shop.example\tFALSE\t/\tFALSE\t0\tid\t1\n", "Cookie: id=1\r\n"),
    (["-b", "@-"], "shop.example\tFALSE\t/\tFALSE\t0\tid\t1\n", "Cookie: id=1\r\n"),
    (["-d", "@-"], "a=b\n", "\r\n\r\na=b"), (["--data-binary", "@-"], "a=b\n", "\r\n\r\na=b\n"),
    (["--data-urlencode", "x@-"], "a b", "\r\n\r\nx=a+b"), (["--json", "@-"], "{}", "\r\n\r\n{}"),
    (["-F", "x=<-"], "hello", "name=\"x\"\r\n\r\nhello\r\n"), (["-T", "-"], "body", "body"),
    (["-w", "@-"], " %{http_code}", " 200"),
  ])
  func `is read wherever a file is, as curl has it`(
    _ options: [String], _ input: String, _ part: String
  ) async throws {
    try await FetchFixture.with { fixture in
      let outcome = await fixture.fetch(options + [fixture.url()], input: [input])
      #expect(outcome.status == 0 && outcome.output.contains(part), "\(outcome)")
    }
  }

  @Test(arguments: [
    (["-H", "@-", "-d", "@-"], "-H and -d"), (["-T", "-", "-b", "-"], "-b and -T"),
    (["-F", "a=@-", "-F", "b=@-"], "-F and -F"), (["-w", "@-", "-u", "@-"], "-u and -w"),
  ])
  func `is read once`(_ options: [String], _ readers: String) async throws {
    try await FetchFixture.with { fixture in
      let outcome = await fixture.fetch(options + [fixture.url()], input: ["x"])
      #expect(outcome.status == 64 && outcome.errors.contains("read once, and \(readers) read it"), "\(outcome)")
      #expect(fixture.origin.requests.isEmpty)
    }
  }

  @Test func `that cannot be read is told with its option`() async throws {
    try await FetchFixture.with { fixture in
      var inner = CommandFixture()
      inner.input = ScriptedInput([], end: .failed("Bad file descriptor"))
      let outcome = await fixture.fetch(["-H", "@-", fixture.url()], in: inner)
      #expect(outcome.status == 74 && outcome.errors.contains("-H: standard input cannot be read"), "\(outcome)")
    }
  }
}
