// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
public import ServiceLifecycle
internal import UnixSignals

extension LiveConfiguration: Service {
  /// Reads the file again whenever it has changed, and whenever the process gets SIGHUP, until the service group shuts
  /// down.
  ///
  /// While it runs, SIGHUP does not end the process.
  ///
  /// - Throws: nothing, although the protocol allows it.
  public func run() async throws { try await run {} }

  /// Reads the file again whenever it has changed, until the task is cancelled.
  ///
  /// SIGHUP keeps its effect: at a terminal it means that the terminal is closed.
  package func follow() async {
    while (try? await clock.sleep(until: clock.now + interval)) != nil { reloadIfChanged() }
  }

  /// The same, and reports when it has begun.
  ///
  /// - Parameter listens: called as soon as SIGHUP no longer ends the process.
  /// - Throws: nothing, although the protocol allows it.
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
