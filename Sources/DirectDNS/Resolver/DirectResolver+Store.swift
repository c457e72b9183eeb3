// SPDX-License-Identifier: Apache-2.0
public import ServiceLifecycle

/// What became of answers that the store had yet to get.
public struct StoreFlush: Sendable {
  /// The answers that the store did not get since it was last flushed, and the names that it was not told to forget.
  public var unwritten: Int
  /// How many of the answers that it did get it has let go again for want of room, since it was last flushed: those that
  /// are gone first.
  public var letGo: Int
  /// Why not, where the store said so; without a reason, time ran out.
  public var reason: DirectDNSError?

  /// Creates one of its parts: for a test.
  public init(unwritten: Int, letGo: Int = 0, reason: DirectDNSError? = nil) {
    self.unwritten = unwritten
    self.letGo = letGo
    self.reason = reason
  }
}

/// The store beyond the process, at the end.
extension DirectResolver {
  /// For how long a process that ends waits for its store.
  public static let flushLimit = Duration.seconds(2)

  /// Waits for the queries under way, such as the refresh behind an answer that was served at once.
  ///
  /// They end with the resolver: a process that ends after a few lookups gives them a moment, so that the store gets what
  /// they bring.
  ///
  /// - Parameter limit: how long to wait at most.
  public func finishQueries(within limit: Duration) async {
    guard lookups.look({ $0.queryCount > 0 }) else { return }
    _ = await Deadline.wait(until: clock.now + limit, clock) { [lookups] in
      await lookups.finished(servers: [.providers])
    }
  }

  /// Waits until the store has been told all that was learned.
  ///
  /// A store that fails is tried once.
  ///
  /// - Parameter limit: how long to wait at most; default ``flushLimit``.
  /// - Returns: what the store did not get; nothing unwritten where there is no store.
  @discardableResult
  public func flushStore(within limit: Duration = flushLimit) async -> StoreFlush {
    guard let store else { return StoreFlush(unwritten: 0) }
    let (unwritten, letGo, reason) = await store.flush(until: clock.now + limit)
    let flush = StoreFlush(unwritten: unwritten, letGo: letGo, reason: reason)
    storeReport?.flushed(flush)
    return flush
  }

  /// Waits as ``flushStore(within:)`` does, and leaves it to that to say what was not written.
  ///
  /// - Returns: how many answers the store has let go again for want of room in all.
  package func settleStore(within limit: Duration = flushLimit) async -> Int {
    await store?.settle(until: clock.now + limit) ?? 0
  }

  /// Ends what is under way, like ``shutdown()``, and waits until the store has been told what was learned and has it where
  /// it stays: a copy of a store's file then has it, too.
  ///
  /// - Parameter limit: how long to wait for the store at most; see ``flushLimit``.
  /// - Returns: what the store did not get.
  @discardableResult
  public func shutdown(flushingWithin limit: Duration) async -> StoreFlush {
    shutdown()
    let end = clock.now + limit
    let flush = await flushStore(within: limit)
    await store?.checkpoint(until: end)
    return flush
  }

  /// The old name of ``shutdown(flushingWithin:)``.
  @available(*, deprecated, renamed: "shutdown(flushingWithin:)")
  @discardableResult
  public func shutDown(flushingWithin limit: Duration) async -> StoreFlush { await shutdown(flushingWithin: limit) }
}

extension DirectResolver: Service {
  /// Waits for the graceful shutdown of its service group, and ends the resolver then.
  ///
  /// What was learned is written to the store within ``flushLimit``. Put what looks names up after it: a group shuts down
  /// in reverse order.
  public func run() async throws {
    try? await gracefulShutdown()
    await shutdown(flushingWithin: Self.flushLimit)
  }
}
