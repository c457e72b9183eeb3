// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting

/// What happens, in order.
///
/// Each chapter checks what it shows.
struct Story {
  let console: Console
  let stage: Stage

  func tell() async throws -> Duration {
    try await ContinuousClock().measure {
      let clock = ManualClock()
      let resolver = try stage.resolver(clock: clock)
      let dnsctl = Dnsctl(folder: stage.folder, console: console)

      try await cold(dnsctl)
      try await cached(resolver)
      try await expiring(resolver, clock)
      try await dead(resolver, clock, dnsctl)
      try await takenOver(dnsctl)
      let doh = try await returning(resolver, clock, dnsctl)

      let shop = try await Shop()
      doh.records.remove(Shop.host)
      doh.records.add(Shop.host, Shop.address)
      try await refused(dnsctl, shop)
      try await rewritten(dnsctl, shop)
      try await restored(try Customer(resolver, allowing: Shop.network), shop)

      try await proxied(dnsctl)
      try await survives(resolver, clock, doh)

      resolver.shutdown()
      await shop.origin.stop()
      await stage.json.stop()
    }
  }
}
