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

/// The world as a command sees it.
///
/// `run()` builds the real one; tests build their own and call `run(in:)`.
package struct CommandContext: Sendable {
  /// Makes the resolver that a command asks.
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
  /// Whether somebody chose to have colours, or to have none.
  package var colour = ColourChoice.auto
  /// The terminal's window, which may change.
  package var terminalSize: @Sendable () -> TerminalSize
  /// Has the terminal give each key as it is pressed, or lines again.
  package var takeKeys: @Sendable (Bool) -> Void
  /// Lets some time pass, between tries.
  package var pause: @Sendable (Duration) async -> Void
  /// A file's bytes; nil if there is no such file.
  package var readFile: @Sendable (String) throws(StreamError) -> [UInt8]?
  package var makeResolver: ResolverFactory
  /// Has everything that is made from now on tell its metrics to a factory.
  package var collectMetrics: @Sendable (any MetricsFactory) -> Void
  /// Waits until the process is interrupted or terminated, and says what to end with; nil if it is not waited for
  /// any more.
  package var interruption: @Sendable () async -> ExitStatus?
  /// Does something around each stop of the process (Ctrl-Z), and before a terminal's signal ends it (Ctrl-\, a hang-up),
  /// from the return on.
  package var aroundStops: @Sendable (@escaping @Sendable (_ stop: () -> Void) -> Void) -> Void
  /// Has a hang-up end the process no more.
  package var ignoreHangUp: @Sendable () -> Void
  /// The C libraries, the network's routes and the system's DNS, for a check of them.
  package var packages: @Sendable () -> SystemPackages
  package var hasRoute: @Sendable (IPAddress.Family) -> Bool
  package var systemSource: @Sendable (_ servers: String?) -> any SystemSource
  /// The store that a setting stands for; nil where answers are not remembered.
  package var openStore: @Sendable (StoreSetting) throws(SettingsError) -> (any AnswerStore)?

  /// The process's own world.
  package static func process() -> CommandContext {
    CommandSignals.prepare()
    // A library's log lines on standard error would stand between the errors; `--trace` tells the same, in order.
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
      aroundStops: { CommandSignals.aroundStops($0) },
      ignoreHangUp: { CommandSignals.ignoreHangUp() },
      packages: { SystemPackages() },
      hasRoute: { $0.hasRoute },
      systemSource: { SystemDNS(servers: $0) },
      openStore: { setting throws(SettingsError) in
        let store = try setting.store(environment, errors: errors)
        ProcessStore.keep(store)
        return store
      })
  }

  /// Says on standard error what went wrong.
  package func complain(_ message: String) {
    errors.say("dnsctl: \(message)\n")
  }

  /// Whether the process belongs to a terminal, as far as its streams say.
  package var isAtTerminal: Bool { isInputTerminal || isOutputTerminal || isErrorsTerminal }

  /// Colours are for people at a terminal who did not decline them (no-color.org), and for those who ask for them.
  var usesColour: Bool {
    switch colour {
    case .always: true
    case .never: false
    case .auto: isOutputTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }
  }
}
