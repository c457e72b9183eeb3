internal import CoreMetrics
internal import Logging

/// Tells logs, metrics and the observer what became of the store.
struct StoreReport: Sendable {
  private let name: String
  private let logger = Logger(label: "directdns.store")
  private let hits: Counter
  private let misses: Counter
  private let failures: Counter
  private let dropped: Counter
  private let observer: (@Sendable (ResolverEvent) -> Void)?

  init(name: String, observer: (@Sendable (ResolverEvent) -> Void)?) {
    self.name = name
    self.observer = observer
    let store = ("store", name)
    hits = Counter(label: "directdns_store_reads", dimensions: [store, ("outcome", "hit")])
    misses = Counter(label: "directdns_store_reads", dimensions: [store, ("outcome", "miss")])
    failures = Counter(label: "directdns_store_failures", dimensions: [store])
    dropped = Counter(label: "directdns_store_dropped", dimensions: [store])
  }

  func read(isHit: Bool) { (isHit ? hits : misses).increment() }

  func note(_ event: StoreEvent) {
    switch event {
    case .failed(let error):
      failures.increment()
      logger.warning("the store fails: lookups go on without it", metadata: ["store": "\(name)", "reason": "\(error)"])
    case .recovered: logger.notice("the store works again", metadata: ["store": "\(name)"])
    case .dropped(let count): dropped.increment(by: count)
    }
    observer?(.store(name, event))
  }

  func unwritten(_ flush: StoreFlush) {
    guard flush.unwritten > 0 else { return }
    logger.warning(
      "answers were not written to the store in time",
      metadata: [
        "store": "\(name)", "answers": "\(flush.unwritten)", "reason": "\(flush.reason?.message ?? "no time left")",
      ])
  }
}
