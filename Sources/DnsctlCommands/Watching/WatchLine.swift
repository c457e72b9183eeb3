// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

extension JSONLine {
  /// A snapshot of `dnsctl watch`.
  init(_ snapshot: WatchSnapshot) {
    self.init()
    add("time", "\(snapshot.time.milliseconds / 1000)")
    add("elapsedMs", snapshot.elapsed.milliseconds)
    add("lookups", "\(snapshot.lookups)")
    add("hits", "\(snapshot.hits)")
    add("names", Self.array(snapshot.rows.map { Self($0).object }))
    add("upstreams", Self.array(snapshot.upstreams.map { Self($0).object }))
  }

  private init(_ row: WatchSnapshot.Row) {
    let resolution = row.resolution
    self.init()
    add("host", Self.string(row.host))
    add("addresses", resolution.map { Self.array($0.addresses.map { "\"\($0)\"" }) })
    add("ttl", resolution?.timeToLive.map { "\($0.components.seconds)" })
    add("expiredFor", resolution?.expiredFor.map { "\($0.components.seconds)" })
    add("freshness", resolution.map { "\"\($0.freshness.rawValue)\"" })
    add("source", resolution.map { "\"\($0.source.kind)\"" })
    add("provider", resolution?.source.provider.map(Self.string))
    add("lookups", "\(row.lookups)")
    add("hits", "\(row.hits)")
    add("lastError", row.lastError.map(Self.string))
    add("negative", "\(row.isNegative)")
  }

  private init(_ status: ProviderStatus) {
    self.init()
    add("provider", Self.string(status.provider))
    add("queries", "\(status.queries)")
    add("failures", "\(status.failures)")
    add("medianMs", status.median?.milliseconds)
    add("p95Ms", status.percentile95?.milliseconds)
    add("breakerOpen", "\(status.isBreakerOpen)")
  }
}
