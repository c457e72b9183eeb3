// SPDX-License-Identifier: Apache-2.0
/// How a resolver's provider does, by the queries of this process.
public struct UpstreamStatus: Sendable, Hashable {
  /// The provider's name.
  public var provider: String
  /// Queries that ended, those that nobody waited for any more aside.
  public var queries: Int
  /// Queries that brought no DNS reply.
  public var failures: Int
  /// The median of the last replies' times (64 at most); nil before the first.
  public var median: Duration?
  /// The 95th percentile of the last replies' times; nil before the first.
  public var percentile95: Duration?
  /// Whether others are asked first, because it failed again and again.
  public var isBreakerOpen: Bool

  /// Creates one of its parts: for a test.
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
    self.provider = provider.name
    queries = health.queries
    failures = health.failures
    median = health.percentile(50)
    percentile95 = health.percentile(95)
    isBreakerOpen = health.openedAt != nil
  }
}

extension DirectResolver {
  /// How each provider does, in the order of the configuration.
  public var upstreamStatus: [UpstreamStatus] {
    lookups.look { $0.servers.states.all.map { UpstreamStatus($0.configuration.provider, $0.health) } }
  }
}

extension DirectResolver {
  /// Every query so far by its source's name, in the order of asking; the system's DNS last.
  ///
  /// A server keeps its number while the configuration changes; the system's DNS has none.
  var tallies: [(source: String, server: Int?, tally: QueryTally)] {
    lookups.look { machine in
      machine.servers.states.all.map { ($0.configuration.provider.name, $0.number, $0.tally) }
        + [("system", nil, machine.systemTally)]
    }
  }
}
