// SPDX-License-Identifier: Apache-2.0
internal import DirectDNSProxy
internal import DnsctlCommands

/// How a running proxy ends: at a first signal in order, at a second one at once.
struct ProxyEnding: Sendable {
  private let signals: AsyncStream<Int32>

  /// Listens to the signals of a context from now on.
  ///
  /// At a terminal a hang-up is one: by its default action what is under way would look complete, too.
  init(_ context: CommandContext) { self.init(context.interruptions(context.isAtTerminal)) }

  init(_ signals: AsyncStream<Int32>) { self.signals = signals }

  /// Waits for the first signal.
  func begins() async { for await _ in signals { return } }

  /// Stops a server, and writes the rest of its log.
  ///
  /// At a second signal what is under way is cut off by resets, and logged, as after the time for it: the kernel would
  /// end connections in order, so that a part looks complete. Then the process ends by that signal.
  func stop(_ server: ProxyServer, _ log: AccessLogWriter?) async {
    await stop({ await server.stop() }, { log?.flush() }, end: { CommandSignals.end(by: $0) })
  }

  /// The same with other performers; `stop` waits for nothing any more when its task is cancelled.
  func stop(
    _ stop: @escaping @Sendable () async -> Void, _ flush: @escaping @Sendable () -> Void,
    end: @escaping @Sendable (Int32) -> Void
  ) async {
    let stopping = Task {
      await stop()
      flush()
    }
    let second = Task {
      for await number in signals {
        stopping.cancel()
        await stopping.value
        return end(number)
      }
    }
    await stopping.value
    // What was cut off has not ended in order. Without a second signal nobody waits for one: while the process ends, it
    // still ends it.
    if stopping.isCancelled { await second.value }
  }
}
