// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The state of `dnsctl watch` at one moment.
struct WatchSnapshot: Sendable {
  /// One name.
  struct Row: Sendable {
    /// The name as it was written.
    var host: String
    /// The newest answer; nil before the first.
    var resolution: Resolution?
    /// How often the name was looked up, and how often the cache had an answer.
    var lookups = 0
    var hits = 0
    /// What went wrong since the last good answer, or why there is no answer.
    var lastError: String?
    /// Whether the answer is that there is no such name, or no such address, which is no failure.
    var isNegative = false
  }

  var rows: [Row]
  var upstreams: [ProviderStatus]
  /// The time since it began.
  var elapsed: Duration
  /// The time by the wall clock.
  var time: WallInstant

  var lookups: Int { rows.reduce(0) { $0 + $1.lookups } }
  var hits: Int { rows.reduce(0) { $0 + $1.hits } }
}
