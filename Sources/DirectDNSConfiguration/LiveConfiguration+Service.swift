internal import DirectDNS
public import ServiceLifecycle
internal import UnixSignals

extension LiveConfiguration: Service {
  /// Reads the file again whenever it has changed, and whenever the process gets SIGHUP, until the service group shuts
  /// down.
  ///
  /// While it runs SIGHUP does not end the process.
  public func run() async throws { try await run {} }

  /// The same, for who has to know from when on SIGHUP no longer ends the process.
  func run(listens: () -> Void) async throws {
    let signals = await UnixSignalsSequence(trapping: .sighup)
    listens()
    await cancelWhenGracefulShutdown {
      await withDiscardingTaskGroup { group in
        group.addTask {
          for await _ in signals { _ = try? self.reload() }
        }
        group.addTask {
          while (try? await self.clock.sleep(until: self.clock.now + self.interval)) != nil { self.reloadIfChanged() }
        }
      }
    }
  }
}
