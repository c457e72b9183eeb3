// SPDX-License-Identifier: Apache-2.0
package import CoreMetrics
package import DirectDNS
package import DirectDNSConfiguration
internal import Logging

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Everything outside of the process that a command uses.
///
/// `run()` makes the real one; tests make their own and call `status(in:)`.
package struct CommandContext: Sendable {
  /// Makes the resolver that a command uses.
  package typealias ResolverFactory =
    @Sendable (ResolverConfiguration, _ systemServers: String?) throws(DirectDNSError) -> DirectResolver

  package var input: any InputSource
  /// Answers, and nothing else.
  package var output: any OutputSink
  /// Errors and traces.
  package var errors: any OutputSink
  package var environment: [String: String]
  package var clock: any ResolverClock
  package var isInputTerminal: Bool
  package var isOutputTerminal: Bool
  package var isErrorsTerminal: Bool
  /// Whether colours were switched on or off by an option.
  package var colour = ColourChoice.auto
  /// Whether errors are told by the status alone, as `fetch -s` has it.
  var isMute = false
  /// The size of the terminal's window, which may change.
  package var terminalSize: @Sendable () -> TerminalSize
  /// Makes the terminal deliver each key as it is pressed, or whole lines again.
  package var takeKeys: @Sendable (Bool) -> Void
  /// Waits, between tries.
  package var pause: @Sendable (Duration) async -> Void
  /// A file's bytes; nil if there is no such file.
  package var readFile: @Sendable (String) throws(StreamError) -> [UInt8]?
  package var makeResolver: ResolverFactory
  /// Makes everything that is created from now on report its metrics to a factory.
  package var collectMetrics: @Sendable (any MetricsFactory) -> Void
  /// Waits until the process is interrupted or terminated, and returns the exit status for it; nil if the wait was
  /// cancelled.
  package var interruption: @Sendable () async -> ExitStatus?
  /// Signals that ask the process to end, the first and the second, from now on; told whether a hang-up is one.
  package var interruptions: @Sendable (_ hangUpEnds: Bool) -> AsyncStream<Int32> = {
    CommandSignals.interruptions(hangUpEnds: $0)
  }
  /// Sets what is done around each stop of the process (Ctrl-Z), and before a signal of the terminal ends it (Ctrl-\, a
  /// hang-up).
  package var onTerminalStop: @Sendable (@escaping @Sendable (_ stop: () -> Void) -> Void) -> Void
  /// Keeps a hang-up from ending the process.
  package var ignoreHangUp: @Sendable () -> Void
  /// The C libraries, the network's routes and the system's DNS, for a check of them.
  package var packages: @Sendable () -> SystemPackages
  package var hasRoute: @Sendable (IPAddress.Family) -> Bool
  package var systemSource: @Sendable (_ servers: String?) -> any SystemSource
  /// The store for a setting; nil if answers are not stored.
  package var openStore: @Sendable (StoreSetting) throws(CommandError) -> (any AnswerStore)?

  /// The context of the real process.
  package static func process() -> CommandContext {
    CommandSignals.prepare()
    // Log lines of libraries on standard error would mix with the errors; `--trace` shows the same, in order.
    LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
    let environment = ProcessInfo.processInfo.environment
    let errors = DescriptorOutput(descriptor: StandardDescriptor.errors)
    return CommandContext(
      input: DescriptorInput(descriptor: StandardDescriptor.input),
      output: DescriptorOutput(descriptor: StandardDescriptor.output),
      errors: errors,
      environment: environment,
      clock: SystemClock(),
      isInputTerminal: StandardDescriptor.isTerminal(StandardDescriptor.input),
      isOutputTerminal: StandardDescriptor.isTerminal(StandardDescriptor.output),
      isErrorsTerminal: StandardDescriptor.isTerminal(StandardDescriptor.errors),
      terminalSize: { StandardDescriptor.windowSize() },
      takeKeys: { TerminalKeys.take($0) },
      pause: { try? await Task.sleep(for: $0) },
      readFile: { path throws(StreamError) in try readWholeFile(path) },
      makeResolver: { configuration, servers throws(DirectDNSError) in
        try DirectResolver(configuration, system: SystemDNS(servers: servers))
      },
      collectMetrics: { MetricsSystem.bootstrap($0) },
      interruption: { await CommandSignals.interruption() },
      onTerminalStop: { CommandSignals.onTerminalStop($0) },
      ignoreHangUp: { CommandSignals.ignoreHangUp() },
      packages: { SystemPackages() },
      hasRoute: { $0.hasRoute },
      systemSource: { SystemDNS(servers: $0) },
      openStore: { setting throws(CommandError) in
        let store = try setting.store(environment, errors: errors)
        ProcessStore.keep(store)
        return store
      })
  }

  /// Writes an error message to standard error, unless it is mute.
  package func reportError(_ message: String) {
    guard !isMute else { return }
    errors.say("dnsctl: \(message)\n")
  }

  /// Writes to standard output; where that fails, the reason is reported, and the status says so.
  func write(_ text: String) -> ExitStatus {
    do throws(StreamError) { try output.write(text) } catch { return CommandError(error).status(in: self) }
    return .answered
  }

  /// The same context, mute or not.
  func muted(_ isMute: Bool) -> CommandContext {
    var context = self
    context.isMute = isMute
    return context
  }

  /// Whether the process belongs to a terminal, judging by its standard streams.
  package var isAtTerminal: Bool { isInputTerminal || isOutputTerminal || isErrorsTerminal }

  /// Whether progress may be drawn in place: a dumb terminal moves no cursor.
  var drawsProgress: Bool { isErrorsTerminal && !isTerminalDumb }

  /// Whether the terminal has no functions (terminfo(5), the entry `dumb`).
  var isTerminalDumb: Bool { environment["TERM"] == "dumb" }

  /// Colours are used at a terminal unless they were declined (no-color.org), and when they were asked for.
  var style: TextStyle {
    switch colour {
    case .always: TextStyle(isOn: true)
    case .never: TextStyle(isOn: false)
    case .auto:
      TextStyle(isOn: isOutputTerminal && (environment["NO_COLOR"] ?? "").isEmpty && !isTerminalDumb)
    }
  }
}
