// SPDX-License-Identifier: Apache-2.0
public import ServiceLifecycle

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
