// SPDX-License-Identifier: Apache-2.0
internal import Logging

/// Reports what happens to the store, to the log, to metrics and to the observer.
struct StoreTelemetry: Sendable {
  private let name: String
  private let logger = Logger(label: "directdns.store")
  private let metrics = MetricSource()
  private let observer: (@Sendable (ResolverEvent) -> Void)?

  init(name: String, observer: (@Sendable (ResolverEvent) -> Void)?) {
    self.name = name
    self.observer = observer
    // Created early: an alert on the rate of a series does not see one that begins with 1.
    for metric in [MetricDescription.storeFailures, .storeDrops] { metrics.count(metric, name, by: 0) }
  }

  func read(isHit: Bool) { metrics.count(.storeReads, name, isHit ? "hit" : "miss") }

  func turn(_ turn: LeaseTurn) { metrics.count(.leases, name, turn.rawValue) }

  func note(_ event: StoreEvent) {
    switch event {
    case .failed(let error):
      metrics.count(.storeFailures, name)
      logger.warning(
        "the store fails: lookups go on without it",
        metadata: ["store": "\(name.printable)", "reason": "\(error.message)"])
    case .recovered: logger.notice("the store works again", metadata: ["store": "\(name.printable)"])
    case .dropped(let count): metrics.count(.storeDrops, name, by: count)
    }
    observer?(.store(name: name, event))
  }

  func flushed(_ flush: StoreFlush) {
    if flush.evicted > 0 {
      logger.warning(
        "the store is full, and has evicted answers again",
        metadata: ["store": "\(name.printable)", "answers": "\(flush.evicted)"])
    }
    guard flush.unwritten > 0 else { return }
    logger.warning(
      "answers were not written to the store in time",
      metadata: [
        "store": "\(name.printable)", "answers": "\(flush.unwritten)",
        "reason": "\(flush.reason?.message ?? "no time left")",
      ])
  }
}
