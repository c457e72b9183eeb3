// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting
import HTTPTypes

/// The last part: requests that get through.
extension Story {
  func survives(_ resolver: DirectResolver, _ clock: ManualClock, _ doh: FakeProvider) async throws {
    console.chapter("A request that takes the next address")
    let tills = try await Tills()
    for address in Tills.addresses { doh.records.add(Tills.host, address, ttl: Stage.ttl) }
    var configuration = DirectClientConfiguration()
    configuration.policy.allowedNetworks = [try IPNetwork(parsing: Shop.network)]
    let client = try DirectClient(configuration, resolver: resolver)

    console.say("\(Tills.host) has two addresses, and a server on each. A DirectClient asks one of them:")
    let first = try await pay(client, tills)
    try console.expect(first.freshness, is: .fresh, "the answer's freshness")
    console.say("That server is killed now. The next request finds its address dead, and takes the other one:")
    guard let address = first.connection.remoteAddress else { throw StoryError("the response names no address") }
    await tills.kill(address)
    let second = try await pay(client, tills)
    try console.expect(second.connection.remoteAddress == address, is: false, "whether the dead address answered")

    console.chapter("DNS is dead, and the request still answered")
    await doh.stop()
    clock.advance(by: .seconds(600))
    console.say(
      "The DNS server is gone, and the answer expired nine minutes ago. The shop has to be paid all the same:")
    let third = try await pay(client, tills)
    try console.expect(third.freshness, is: .stale, "the answer's freshness")
    try console.expect(tills.paid, is: 3, "payments that arrived")
    await client.shutdown()
    await tills.stop()
  }

  private func pay(_ client: DirectClient, _ tills: Tills) async throws -> DirectResponse {
    let url = try WebURL(tills.url("/pay"))
    let response = try await client.execute(HTTPRequest(method: .post, url: url), body: .text("7 apples"))
    let text = String(decoding: try await response.body.collect(upTo: 1_000), as: UTF8.self)
    let connection = response.connection
    let address = connection.remoteAddress?.description ?? "nowhere"
    let failed = connection.failedAddresses.map { ", after \($0) had failed" }.joined()
    console.show(
      "POST \(url)",
      "\(response.status.code) \(text)  from \(address)\(failed)  \(response.freshness?.rawValue ?? "no") answer  (\(response.timings.total.text))"
    )
    try console.expect(response.status, is: .ok, "the shop's status")
    return response
  }
}

/// A shop with two tills: one name, two addresses, one port.
struct Tills {
  static let host = "tills.example.test"
  static let addresses = ["127.0.0.1", "127.0.0.2"]

  private let origins: [FakeOrigin]

  init() async throws {
    var origins: [FakeOrigin] = []
    for text in Self.addresses {
      guard let address = IPAddress(text) else { throw StoryError("\(text) is not an address") }
      let configuration = FakeOriginConfiguration(address: address, port: origins.first?.port ?? 0)
      origins.append(try await .start(configuration: configuration) { _ in OriginResponse(body: "Thank you.") })
    }
    self.origins = origins
  }

  func url(_ path: String) -> String { origins[0].url(path, host: Self.host) }

  /// How often somebody paid.
  var paid: Int { origins.map(\.requests.count).reduce(0, +) }

  func kill(_ address: IPAddress) async {
    for origin in origins where origin.configuration.address == address { await origin.stop() }
  }

  func stop() async {
    for origin in origins { await origin.stop() }
  }
}
