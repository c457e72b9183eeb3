// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSConfiguration
@testable import DnsctlCommands

@Suite struct Secrets {
  private static let secret = "deadbeef5ec2e7"

  /// The errors and the output of a run in which every provider fails.
  private func run(_ arguments: [String], environment: [String: String] = [:], file: String? = nil) async
    -> CommandFixture.Outcome
  {
    var fixture = CommandFixture(
      zone: ["a.example": .failure(.connect("refused"))],
      environment: environment.merging(["DIRECTDNS_CONFIG": file == nil ? "" : "/c.json5"]) { $1 })
    fixture.files = file.map { ["/c.json5": $0] } ?? [:]
    return await fixture.resolve(arguments)
  }

  private static let variables = [
    "DIRECTDNS_ALIDNS_ACCOUNT": "1001", "DIRECTDNS_ALIDNS_KEY_ID": "keyid", "DIRECTDNS_ALIDNS_SECRET": secret,
    "DIRECTDNS_DNSPOD_TOKEN": secret, "DIRECTDNS_EMAS_ACCOUNT": "1001", "DIRECTDNS_EMAS_SECRET": secret,
  ]

  private static let file = """
    { providers: [
      { provider: "alidns", credentials: { account: "1001", keyID: "keyid", secret: "\(secret)" } },
      { provider: "dnspod", credentials: { token: "\(secret)" } },
      { provider: "emas+https://203.107.1.1/1001/sign_d", credentials: { secret: "\(secret)" } },
      "json+https://192.0.2.1/resolve?key=\(secret)",
    ] }
    """

  @Test(arguments: ["text", "json", "short"], [true, false])
  func `from environment or file appear nowhere in a traced run whose providers fail`(
    format: String, isInFile: Bool
  ) async {
    let providers = [
      "alidns", "dnspod", "emas+https://203.107.1.1/1001/sign_d", "doh+https://192.0.2.1/q?k=\(Self.secret)",
    ]
    let arguments = ["--trace", "--format", format, "a.example"]
    let outcome =
      if isInFile {
        await run(arguments, file: Self.file)
      } else {
        await run(providers.flatMap { ["--provider", $0] } + arguments, environment: Self.variables)
      }
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("alidns") && outcome.errors.contains("203.107.1.1"))
    #expect(!(outcome.output + outcome.errors).contains(Self.secret))
  }

  @Test(arguments: [
    #"{ providers: [{ provider: "alidns", credentials: { secret: "S" } }] }"#,
    #"{ providers: [{ provider: "alidns", credentials: { secert: "S" } }] }"#,
    #"{ providers: [{ provider: "alidns", credentials: { secret: ["S"] } }] }"#,
    #"{ providers: [{ provider: "alidns", credentials: "S" }] }"#,
    #"{ providers: [{ provider: "alidns", credentails: { secret: "S" } }] }"#,
    #"{ providers: [{ provider: "alidns", token: "S" }] }"#,
    #"{ providers: [{ provider: "alidns", credentials: { secret: "S } }] }"#,
    #"{ providers: [{ provider: "alidns", credentials: { secret: S } }] }"#,
    #"{ providers: [{ provider: "emas+https://203.107.1.1/v2/d?id=1", credentials: { secret: "nothex-S" } }] }"#,
    #"{ providers: ["nobody+https://192.0.2.1/?key=S"] }"#,
  ])
  func `in a file that is wrong are not repeated by the error`(file: String) async {
    let outcome = await run(["a.example"], file: file.replacing("S", with: Self.secret))
    #expect(outcome.status == 78)
    #expect(outcome.errors.hasPrefix("dnsctl: /c.json5: "))
    #expect(!outcome.errors.contains(Self.secret))
  }

  @Test func `that lack a part are asked for by name`() async {
    let outcome = await run(
      ["--provider", "alidns", "a.example"], environment: ["DIRECTDNS_ALIDNS_SECRET": Self.secret])
    #expect(outcome.status == 78)
    #expect(outcome.errors.contains("account, keyID and secret"))
    #expect(!outcome.errors.contains(Self.secret))
  }

  @Test(
    arguments: [
      ("alidns", "1001", nil), ("json+https://dns.alidns.com/resolve", "1001", nil),
      ("json+https://223.5.5.5/resolve", "1001", nil), ("json+https://dns.google/resolve", nil, nil),
      ("json+https://notalidns.com/resolve", nil, nil), ("google", nil, nil), ("dnspod", nil, "token"),
      ("dnspod+https://119.29.29.99/d", nil, "token"), ("dnspod+http://119.29.29.99/d", nil, nil),
      ("emas+https://203.107.1.1/1/d", "2002", nil),
    ] as [(String, String?, String?)])
  func `are told to nobody whom they are not meant for`(provider: String, account: String?, token: String?)
    throws
  {
    let environment = try EnvironmentSettings([
      "DIRECTDNS_ALIDNS_ACCOUNT": "1001", "DIRECTDNS_DNSPOD_TOKEN": "token", "DIRECTDNS_EMAS_ACCOUNT": "2002",
    ])
    let credentials = environment.credentials(for: provider)
    #expect(credentials.account == account)
    #expect(credentials.token == token.map { Secret($0) })
  }

  @Test func `sign requests, the environment's over the file's`() async throws {
    var fixture = CommandFixture(
      zone: ["a.example": .addresses(["192.0.2.1"])],
      environment: ["DIRECTDNS_ALIDNS_ACCOUNT": "2002", "DIRECTDNS_CONFIG": "/c.json5"])
    fixture.files = [
      "/c.json5":
        #"{ providers: [{ provider: "alidns", credentials: { account: "1001", keyID: "k", secret: "s" } }] }"#
    ]
    #expect(await fixture.resolve(["--family", "ipv4", "a.example"]).status == 0)
    let url = try #require(fixture.transport.asked.withLock { $0.first })
    #expect(url.contains("uid=2002") && url.contains("ak=k"))
  }
}
