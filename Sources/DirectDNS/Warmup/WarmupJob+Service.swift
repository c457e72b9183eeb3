// SPDX-License-Identifier: Apache-2.0
public import ServiceLifecycle

extension WarmupJob: Service {
  /// Warms up, then waits for the graceful shutdown of its service group, and for the resolver's store to be told.
  ///
  /// Put it before the services that use the resolver, and let each of them begin with `try await warmup.ready`: a group
  /// starts its services in their order but does not wait for them, and ends them in reverse order. A shutdown that comes
  /// before the end stops it.
  ///
  /// - Throws: an error of code ``DirectDNSError/Code/warmupMissed`` where the plan wants that below its minimum, or of
  ///   code ``DirectDNSError/Code/fileUnusable``.
  public func run() async throws {
    let report = try await withGracefulShutdownHandler {
      try await warmUp()
    } onGracefulShutdown: {
      self.stop(.stopped, DirectDNSError(.shutDown, "The process was told to end before the warm-up had ended."))
    }
    try check(report)
    try? await gracefulShutdown()
    await resolver.flushStore()
  }
}
