// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
public import ServiceLifecycle
internal import UnixSignals

extension LiveConfiguration: Service {
  /// Reads the file again whenever it has changed, and whenever the process gets SIGHUP, until the service group shuts
  /// down.
  ///
  /// While it runs SIGHUP does not end the process.
  ///
  /// - Throws: nothing, though services may.
  public func run() async throws { try await run {} }

  /// Reads the file again whenever it has changed, until the task is cancelled.
  ///
  /// SIGHUP stays what it was: at a terminal it says that the terminal has gone.
  package func follow() async {
    while (try? await clock.sleep(until: clock.now + interval)) != nil { reloadIfChanged() }
  }

  /// The same, and tells when it has begun.
  ///
  /// - Parameter listens: is called as soon as SIGHUP no longer ends the process.
  /// - Throws: nothing, though services may.
  package func run(listens: () -> Void) async throws {
    let signals = await UnixSignalsSequence(trapping: .sighup)
    listens()
    await cancelWhenGracefulShutdown {
      await withDiscardingTaskGroup { group in
        group.addTask {
          for await _ in signals { _ = try? self.reload() }
        }
        group.addTask { await self.follow() }
      }
    }
  }
}
