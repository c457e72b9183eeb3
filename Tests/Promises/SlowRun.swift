// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSTesting

/// Lookups of known names, and requests to them, while the providers take their time and answers expire.
enum SlowRun {
  private static let tasks = 4
  /// Of each task; together every name is wanted about once a second.
  private static let pause = Duration.milliseconds(4)

  static func run(seconds: Double) async throws {
    for (label, misbehaviour) in [
      ("0", Misbehaviour.delay(.zero)), ("50ms", .delay(.milliseconds(50))), ("500ms", .delay(.milliseconds(500))),
      ("5s", .delay(.seconds(5))), ("never", .hang),
    ] {
      // As short as answers live by default.
      let known = try await KnownNames(providers: 2, ttl: 10)
      for provider in known.providers { provider.misbehave(misbehaviour) }
      let end = ContinuousClock.now + .seconds(seconds)
      let times = await withTaskGroup(of: Times.self) { group in
        for _ in 0..<tasks { group.addTask { await look(known, until: end) } }
        return await group.reduce(into: Times()) { $0.add($1) }
      }
      let expired = known.providers.reduce(0) { $0 + $1.requests.count }
      print(
        "delay=\(label) lookups=\(times.resolve.count + times.waited.count) failed=\(times.failed) queries=\(expired)"
          + times.resolve.text("resolve") + times.waited.text("waited") + times.named.text("named")
          + times.pinned.text("pinned"))
      await known.stop()
    }
  }

  private static func look(_ known: KnownNames, until end: ContinuousClock.Instant) async -> Times {
    var times = Times()
    var round = 0
    while ContinuousClock.now < end {
      round += 1
      do {
        let host = known.randomHost
        let began = ContinuousClock.now
        let found = try await known.resolver.resolve(host)
        let time = ContinuousClock.now - began
        if found.freshness == .stale { times.waited.add(time) } else { times.resolve.add(time) }
        // A request to a name, and the same to one that is pinned, over as many connections: what is more is the lookup's.
        if round % 2 == 0 {
          let isStale = try await request(known, host.text, &times.named)
          if isStale { times.named.removeLast() }
        } else {
          _ = try await request(known, known.pinned.randomElement() ?? "", &times.pinned)
        }
      } catch { times.failed += 1 }
      try? await Task.sleep(for: pause)
    }
    return times
  }

  /// Sends a request, and says whether it went by an expired answer, which may have been waited for.
  private static func request(_ known: KnownNames, _ host: String, _ times: inout Percentiles) async throws -> Bool {
    let began = ContinuousClock.now
    let response = try await known.client.get(known.url(host))
    _ = try await response.body.text()
    times.add(ContinuousClock.now - began)
    return response.freshness == .stale
  }
}

/// What took how long: lookups at once, lookups that could wait for a refresh, requests to names with and without a lookup.
private struct Times: Sendable {
  var resolve = Percentiles()
  var waited = Percentiles()
  var named = Percentiles()
  var pinned = Percentiles()
  var failed = 0

  mutating func add(_ other: Times) {
    resolve.add(other.resolve)
    waited.add(other.waited)
    named.add(other.named)
    pinned.add(other.pinned)
    failed += other.failed
  }
}
