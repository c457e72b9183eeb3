// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite struct `dnsctl compare` {
  private func run(_ arguments: String..., edit: (inout CommandFixture) -> Void = { _ in }) async
    -> CommandFixture.Outcome
  {
    var fixture = CommandFixture(
      zone: [
        "www.example.com": .addresses(["8.8.8.8"]), "six.example.com": .addresses(["8.8.8.8", "2a00:1450::1"]),
        "signed.example.com": .records([1: ["8.8.8.8"]], isAuthenticated: true), "broken.example.com": .code(2),
        "proven.example.com": .records([:], isAuthenticated: true),
      ],
      systemZone: [
        "www.example.com": .addresses(["8.8.8.8"], ttl: 60), "six.example.com": .addresses(["10.0.0.1"]),
        "signed.example.com": .addresses(["8.8.8.8"]), "broken.example.com": .addresses(["8.8.8.8"]),
        "none.example.com": .missing, "lie.example.com": .addresses(["192.0.2.1"]),
      ])
    edit(&fixture)
    return await fixture.run(["compare"] + arguments)
  }

  @Test func `each provider and the system's DNS are asked, side by side`() async {
    let outcome = await run("@google", "@alidns", "-4", "www.example.com")
    #expect(
      outcome.output == """
        www.example.com  A
          google  8.8.8.8  ttl 300 s  0.0 ms
          alidns  8.8.8.8  ttl 300 s  0.0 ms
          system  8.8.8.8  ttl 60 s   0.0 ms
          They agree.

        """)
    #expect(outcome.status == 0 && outcome.errors == "")
  }

  @Test func `that there is nothing may be authenticated, too`() async {
    let outcome = await run("@google", "-4", "--json", "proven.example.com")
    #expect(outcome.output.contains(#""addresses":[],"nameExists":true,"ttl":null,"authenticated":true"#), "\(outcome)")
  }

  @Test(arguments: [["--store", "sqlite"], ["--expired", "refused"]]) func `what is remembered has no say`(
    _ option: [String]
  ) async {
    let outcome = await run("www.example.com", option[0], option[1])
    #expect(outcome.status == 64 && outcome.errors.contains("leave \(option[0]) out"), "\(outcome)")
  }

  @Test(arguments: [
    ("www.example.com", Int32(0)), ("six.example.com", 4), ("none.example.com", 1), ("lie.example.com", 4),
    ("broken.example.com", 2), ("signed.example.com", 0), ("nas.local", 3), ("www.torproject.onion", 3), ("a..b", 1),
    ("192.0.2.1", 1),
  ])
  func `the status tells whether they disagree`(_ name: String, _ status: Int32) async {
    let outcome = await run("@google", name)
    #expect(outcome.status == status, "\(outcome)")
  }

  @Test func `differences count with strict`() async {
    for (arguments, status) in [([], Int32(0)), (["--strict"], 4)] as [([String], Int32)] {
      let fixture = CommandFixture(
        zone: ["www.example.com": .addresses(["8.8.8.8"])], systemZone: ["www.example.com": .addresses(["9.9.9.9"])])
      let outcome = await fixture.run(["compare", "@google", "-4", "www.example.com"] + arguments)
      #expect(outcome.status == status && outcome.output.contains("They differ, as they may."), "\(outcome)")
    }
  }

  @Test func `json has a line a family`() async {
    let outcome = await run("@google", "--json", "six.example.com")
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(
      lines.first
        == #"{"host":"six.example.com","type":"A","verdict":"disagree","answers":[{"source":"google","addresses":["8.8.8.8"],"nameExists":true,"ttl":300,"authenticated":false,"elapsedMs":0,"error":null,"remarks":[{"kind":"otherNetwork","disagrees":false,"text":"in other networks than the others"}]},{"source":"system","addresses":["10.0.0.1"],"nameExists":true,"ttl":300,"authenticated":null,"elapsedMs":0,"error":null,"remarks":[{"kind":"notPublic","disagrees":true,"text":"10.0.0.1 is not a public address (Private-Use), and not everybody has it"},{"kind":"otherNetwork","disagrees":false,"text":"in other networks than the others"}]}],"error":null}"#
    )
    #expect(lines.last?.contains(#""type":"AAAA","verdict":"disagree""#) == true)
    let none = await run("@google", "--json", "a..b")
    #expect(
      none.output.hasPrefix(#"{"host":"a..b","type":null,"verdict":null,"answers":null,"error":{"code":"invalidName""#))
  }

  @Test func `a failure is told by its reason`() async {
    let outcome = await run("@google", "-4", "broken.example.com")
    #expect(outcome.output.contains("answered SERVFAIL") && outcome.output.contains("Only system answered."))
    #expect(await run("@google", "-4", "--json", "broken.example.com").output.contains(#""verdict":"unanswered""#))
  }

  @Test func `names come from standard input too, and pins and the store are passed by`() async {
    let store = MemoryAnswerStore()
    let outcome = await run("@google", "-4", "--config", "c.json5", "-") {
      $0.store = store
      $0.files["c.json5"] = #"{ pins: { "www.example.com": ["192.0.2.99"] } }"#
      $0.input = ScriptedInput(["www.example.com\nnone.example.com\n"])
    }
    #expect(outcome.status == 1 && !outcome.output.contains("192.0.2.99"), "\(outcome)")
    #expect(outcome.output.contains("the name does not exist"))
  }

  @Test func `a provider whose host is pinned is reached there all the same`() async {
    let outcome = await run(
      "@google", "@json+https://dns.example/resolve", "--no-system", "-4", "--config", "c.json5", "www.example.com"
    ) {
      $0.files["c.json5"] = #"{ pins: { "dns.example": ["192.0.2.53"] } }"#
    }
    #expect(outcome.status == 0 && outcome.output.contains("They agree."), "\(outcome)")
  }

  @Test(arguments: [
    (["compare", "@google", "--no-system", "www.example.com"], "nobody to compare google"),
    (["compare", "@google"], "Give a name to look up"), (["compare"], "Missing expected argument"),
    (["compare", "@", "a.example"], "@ wants a server"),
  ])
  func `what cannot be compared is a wrong command line`(_ arguments: [String], _ text: String) async {
    let outcome = await CommandFixture().run(arguments)
    #expect(outcome.status == 64 && outcome.errors.contains(text), "\(outcome)")
  }

  @Test func `what is said cannot act on a terminal`() async {
    let outcome = await run("@google", "evil\u{1b}[31m.example.com")
    #expect(!(outcome.output + outcome.errors).contains("\u{1b}"))
  }
}
