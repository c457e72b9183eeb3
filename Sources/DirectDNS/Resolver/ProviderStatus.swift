// SPDX-License-Identifier: Apache-2.0
/// The state of one of a resolver's providers, by the queries of this process.
public struct ProviderStatus: Sendable, Hashable {
  /// The provider's name.
  public var provider: String
  /// How many queries ended, except those that were cancelled.
  public var queries: Int
  /// How many of them brought no DNS reply.
  public var failures: Int
  /// The median of the times of the last replies, 64 at most; nil before the first one.
  public var median: Duration?
  /// The 95th percentile of these times; nil before the first one.
  public var percentile95: Duration?
  /// Whether its breaker is open, because it failed or was silent several times in a row: others are asked first.
  public var isBreakerOpen: Bool

  /// Creates one from its parts, for a test.
  public init(
    provider: String, queries: Int, failures: Int, median: Duration? = nil, percentile95: Duration? = nil,
    isBreakerOpen: Bool = false
  ) {
    self.provider = provider
    self.queries = queries
    self.failures = failures
    self.median = median
    self.percentile95 = percentile95
    self.isBreakerOpen = isBreakerOpen
  }

  init(_ provider: any Provider, _ health: ServerHealth) {
    self.init(
      provider: provider.name, queries: health.queries, failures: health.failures, median: health.percentile(50),
      percentile95: health.percentile(95), isBreakerOpen: health.openedAt != nil)
  }
}

extension DirectResolver {
  /// The state of each provider, in the order of the configuration.
  public var providerStatus: [ProviderStatus] {
    lookups.look { $0.servers.states.all.map { ProviderStatus($0.configuration.provider, $0.health) } }
  }

  /// The counts of queries by source, in the order of asking; the system's DNS comes last.
  ///
  /// A server keeps its number when the configuration changes; the system's DNS has none.
  var tallies: [(source: String, server: Number<DNSServer>?, tally: QueryTally)] {
    lookups.look { machine in
      machine.servers.states.all.map { ($0.configuration.provider.name, $0.number, $0.tally) }
        + [("system", nil, machine.systemTally)]
    }
  }
}
