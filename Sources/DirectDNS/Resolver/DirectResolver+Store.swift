// SPDX-License-Identifier: Apache-2.0
public import ServiceLifecycle

/// The store, when a process ends.
extension DirectResolver {
  /// How long a process that ends waits for its store: 2 s.
  public static let flushLimit = Duration.seconds(2)

  /// Waits for queries under way, such as the refresh of an answer that was served at once.
  ///
  /// A process that ends after a few lookups gives them a moment, so that the store gets their answers. A task that is
  /// cancelled waits no longer.
  ///
  /// - Parameter limit: how long to wait at most.
  public func finishQueries(within limit: Duration) async {
    guard lookups.look(\.isAsking) else { return }
    _ = await Deadline.wait(until: clock.now + limit, clock, endsIfCancelled: true) { [lookups] in
      await lookups.drain(servers: [.providers])
    }
  }

  /// Waits until all answers have been written to the store, and a moment for leases that are being ended.
  ///
  /// A store that has failed is tried once. A cancellation does not end the wait, since a process that is told to end
  /// cancels its tasks, and the answers would be lost.
  ///
  /// - Parameter limit: how long to wait at most; default ``flushLimit``.
  /// - Returns: what the store did not get; nothing if there is no store.
  @discardableResult
  public func flushStore(within limit: Duration = flushLimit) async -> StoreFlush {
    guard let store else { return StoreFlush(unwritten: 0) }
    let flush = await store.flush(until: clock.now + limit)
    storeTelemetry?.flushed(flush)
    return flush
  }

  /// Waits like ``flushStore(within:)``, but leaves it to that to count what was not written.
  ///
  /// - Returns: how many answers the store has evicted in all, for want of room.
  package func drainStore() async -> Int { await store?.drain(until: clock.now + Self.flushLimit) ?? 0 }

  /// Ends the resolver, like ``shutdown()``, and waits until all answers have been written to the store.
  ///
  /// They are then in the store's main file, so that a copy of that file has them too. The resolver's thread has ended on
  /// return, so that the process may exit.
  ///
  /// - Parameter limit: how long to wait for the store at most; see ``flushLimit``.
  /// - Returns: what the store did not get.
  @discardableResult
  public func shutdown(flushingWithin limit: Duration) async -> StoreFlush {
    shutdown()
    let end = clock.now + limit
    let flush = await flushStore(within: limit)
    await store?.checkpoint(until: end)
    await endTransport()
    return flush
  }

  /// Waits for the end of the transport's thread, once the transport was shut down.
  func endTransport() async { await (transport as? CurlTransport)?.end() }
}

extension DirectResolver: Service {
  /// Waits for the graceful shutdown of its service group, and then ends the resolver.
  ///
  /// Answers are written to the store within ``flushLimit``. Put services that look up names after it: a group shuts
  /// down in reverse order.
  ///
  /// - Throws: nothing, although the protocol allows it.
  public func run() async throws {
    try? await gracefulShutdown()
    await shutdown(flushingWithin: Self.flushLimit)
  }
}
