// SPDX-License-Identifier: Apache-2.0
public import ServiceLifecycle

extension DirectClient: Service {
  /// Waits for the graceful shutdown of its service group, and ends the client then.
  ///
  /// Requests under way finish within 30 s, or within the group's own limit if that is shorter, and are ended when its task
  /// is cancelled. Put the services that
  /// use the client after it: a group shuts down in reverse order.
  public func run() async throws {
    try? await gracefulShutdown()
    await shutdown()
  }
}
