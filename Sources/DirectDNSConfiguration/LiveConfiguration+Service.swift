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

  /// The same, and tells when it has begun.
  ///
  /// - Parameter listens: is called as soon as SIGHUP no longer ends the process.
  /// - Throws: nothing, though services may.
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
