// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Synchronization

@testable import DnsctlCommands

/// Files by their paths, and what was said on standard error.
final class ContextFixture: OutputSink, InputSource {
  private let state: Mutex<(files: [String: String], said: String)>

  init(_ files: [String: String]) { state = Mutex((files, "")) }

  var said: String { state.withLock(\.said) }

  func put(_ text: String?, at path: String) { state.withLock { $0.files[path] = text } }

  func write(_ text: String) throws(StreamError) { state.withLock { $0.said += text } }

  func write(_ bytes: [UInt8]) throws(StreamError) { try write(String(decoding: bytes, as: UTF8.self)) }

  func read() async throws(StreamError) -> [UInt8] { [] }

  func file(_ path: String) -> [UInt8]? { state.withLock { $0.files[path].map { Array($0.utf8) } } }

  var context: CommandContext {
    CommandContext(
      input: self, output: self, errors: self, environment: [:], clock: SystemClock(), isInputTerminal: false,
      isOutputTerminal: false, isErrorsTerminal: false, terminalSize: { TerminalSize(columns: 80, rows: 24) },
      takeKeys: { _ in }, pause: { _ in }, readFile: { path throws(StreamError) in self.file(path) },
      makeResolver: { configuration, _ throws(DirectDNSError) in try DirectResolver(configuration) },
      collectMetrics: { _ in }, interruption: { nil }, onTerminalStop: { _ in }, ignoreHangUp: {},
      packages: { SystemPackages() }, hasRoute: { _ in true }, systemSource: { SystemDNS(servers: $0) },
      openStore: { _ throws(CommandError) in nil })
  }
}
