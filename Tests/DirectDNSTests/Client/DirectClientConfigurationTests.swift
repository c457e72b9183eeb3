// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct DirectClientConfigurationTests {
  @Test func `the defaults are those of the rules`() throws {
    let configuration = DirectClientConfiguration()
    #expect(configuration.policy == .publicOnly && configuration.proxy == .none && configuration.cookies == nil)
    #expect(
      configuration.timeouts == RequestTimeouts(connect: .seconds(5), firstByte: .seconds(30), total: .seconds(120)))
    #expect(configuration.attemptDelay == .milliseconds(250) && configuration.redirects?.limit == 20)
    #expect(configuration.minimumTLS == .v12 && !configuration.decompresses && !configuration.forwardsOriginalURL)
    try configuration.validate()
  }

  @Test func `a configuration that is printed shows nothing of what a proxy is given`() throws {
    var configuration = DirectClientConfiguration()
    configuration.proxy = .url(try WebURL("http://ann:s3cret@proxy.test:3128"), except: "a.test")
    var dumped = ""
    dump(configuration, to: &dumped)
    #expect(configuration.proxy.description == "http://proxy.test:3128, except for a.test")
    #expect(!"\(configuration) \(dumped)".contains("s3cret"))
    #expect(["\(ProxyChoice.none)", "\(ProxyChoice.environment)"] == ["none", "environment"])
  }

  private typealias Change = @Sendable (inout DirectClientConfiguration) -> Void

  private static let unusable: [(name: String, change: Change)] = [
    ("connections", { $0.connections = 0 }),
    ("connectionsPerOrigin", { $0.connectionsPerOrigin = -1 }),
    ("streamsPerConnection", { $0.streamsPerConnection = 0 }),
    ("threads", { $0.threads = 0 }),
    ("threads", { $0.threads = 300 }),
    ("bufferSize", { $0.bufferSize = 0 }),
    ("connections", { $0.connections = .max }),
    ("connectionsPerOrigin", { $0.connectionsPerOrigin = 1 << 30 + 1 }),
    ("streamsPerConnection", { $0.streamsPerConnection = .max }),
    ("bufferSize", { $0.bufferSize = .max }),
    ("timeouts.connect", { $0.timeouts.connect = .zero }),
    ("timeouts.firstByte", { $0.timeouts.firstByte = .zero }),
    ("timeouts.idle", { $0.timeouts.idle = .zero }),
    ("timeouts.total", { $0.timeouts.total = .seconds(-1) }),
    ("attemptDelay", { $0.attemptDelay = .milliseconds(-1) }),
    ("redirects.limit", { $0.redirects?.limit = -1 }),
    ("lookup.families", { $0.lookup.families = [] }),
    ("lookup.timeout", { $0.lookup.timeout = .zero }),
    ("userAgent", { $0.userAgent = "two\r\nlines" }),
    ("/no/such.pem", { $0.identity = ClientIdentity(certificate: "/no/such.pem") }),
    ("/no/such/ca.pem", { $0.trust = TrustStore(privateAuthorities: ["/no/such/ca.pem"]) }),
  ]

  @Test(arguments: unusable.indices) func `a value that cannot be used is refused by its name`(_ index: Int) {
    let (name, change) = Self.unusable[index]
    let error = #expect(throws: DirectDNSError.self) { try ClientSample.client(change) }
    #expect(error?.code == .invalidConfiguration && error?.message.contains(name) == true)
  }
}
