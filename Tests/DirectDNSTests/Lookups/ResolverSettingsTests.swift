// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

struct ResolverSettingsTests {
  private func settings(
    system: any SystemSource = SystemDNS(), trust: CurlTrust? = nil,
    changing change: (inout ResolverConfiguration) -> Void = { _ in }
  ) -> ResolverSettings {
    var configuration = ResolverConfiguration()
    change(&configuration)
    return ResolverSettings(configuration, system: system, trust: trust)
  }

  @Test func `a configuration that is made twice says the same, whatever an update cannot change`() {
    let other = settings {
      $0.capacity = 7
      $0.storeTimeout = .seconds(1)
      $0.store = MemoryAnswerStore()
      $0.observer = { _ in }
    }
    #expect(settings().isSame(as: other))
  }

  @Test func `every value that lookups go by tells settings from others`() {
    let changes: [(inout ResolverConfiguration) -> Void] = [
      { $0.providers.swapAt(0, 1) }, { $0.providers = [$0.providers[0]] }, { $0.providers[0].bootstrap = [] },
      { $0.providers[1].rateLimit = RateLimit(perSecond: 5) }, { $0.usesSystemDNS = false },
      { $0.cache.grace = .zero }, { $0.keepAlive = [ResolverFixture.host] },
      { $0.localZones.suffixes = [ResolverFixture.host] }, { $0.timeout = .seconds(6) }, { $0.hedges = false },
      { $0.connectionsPerServer = 7 }, { $0.families = .ipv4 }, { $0.trust.privateAuthorities = ["/ca.pem"] },
    ]
    for (number, change) in changes.enumerated() {
      #expect(!settings(changing: change).isSame(as: settings()), "\(number)")
      #expect(settings(changing: change).isSame(as: settings(changing: change)), "\(number)")
    }
  }

  @Test func `a provider is the same by its format, its URL, its credentials and its client's network`() throws {
    let signed = ProviderCredentials(account: "1", keyID: "k", secret: "first")
    var other = signed
    other.secret = "second"
    func all() throws -> [ProviderConfiguration] {
      try [
        ProviderConfiguration("doh+https://dns.example/q"), ProviderConfiguration("doh-post+https://dns.example/q"),
        ProviderConfiguration("doh+https://dns.example/r"), ProviderConfiguration("json+https://dns.example/q"),
        ProviderConfiguration("json+https://dns.example/q", credentials: signed),
        ProviderConfiguration("json+https://dns.example/q", credentials: other),
        ProviderConfiguration("json+https://dns.example/q", clientSubnet: IPNetwork("192.0.2.0/24")),
        ProviderConfiguration("dnspod+https://dns.example/d"),
        ProviderConfiguration("dnspod+https://dns.example/d", credentials: ProviderCredentials(token: "t")),
        ProviderConfiguration("emas+https://dns.example/1/d"),
      ]
    }
    let (some, again) = (try all(), try all())
    for (number, one) in some.enumerated() {
      for (place, two) in again.enumerated() {
        let areSame = settings { $0.providers = [one] }.isSame(as: settings { $0.providers = [two] })
        #expect(areSame == (number == place), "\(number) and \(place)")
      }
    }
  }

  @Test func `the system's DNS is the same by its servers, or as the same object`() {
    let servers = SystemDNS(servers: "127.0.0.1:53")
    #expect(!settings(system: servers).isSame(as: settings()))
    #expect(settings(system: servers).isSame(as: settings(system: SystemDNS(servers: "127.0.0.1:53"))))
    let (one, other) = (ScriptedSystem(clock: ManualClock()), ScriptedSystem(clock: ManualClock()))
    #expect(settings(system: one).isSame(as: settings(system: one)))
    #expect(!settings(system: one).isSame(as: settings(system: other)))
    #expect(!settings(system: one).isSame(as: settings()))
  }

  @Test func `what the files of authorities held counts, and not their paths alone`() {
    let before = settings(trust: CurlTrust(file: "/ca.pem", content: [1]))
    #expect(before.isSame(as: settings(trust: CurlTrust(file: "/ca.pem", content: [1]))))
    #expect(!before.isSame(as: settings(trust: CurlTrust(file: "/ca.pem", content: [2]))))
  }

  /// It does not say when another one is the same.
  private struct Incomparable: Provider {
    private let provider = ScriptedProvider("one")
    var name: String { provider.name }
    var url: WebURL { provider.url }

    func request(for question: AddressQuestion, at secondsSince1970: Int64) -> HTTPMessage {
      provider.request(for: question, at: secondsSince1970)
    }

    func answer(from reply: HTTPReply, to question: AddressQuestion) throws(ProviderFailure) -> Answer {
      try provider.answer(from: reply, to: question)
    }
  }

  @Test func `a provider that cannot be compared is never known to be the same`() {
    let configuration = ProviderConfiguration(provider: Incomparable())
    let (one, two) = (settings { $0.providers = [configuration] }, settings { $0.providers = [configuration] })
    #expect(!one.isSame(as: two))
  }
}
