// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import Synchronization

/// `-D`: the heads of all responses, one after the other.
///
/// An existing file stays until a first head has come, and is then replaced.
final class HeadDump: Sendable {
  private let path: String
  private let output: any OutputSink
  private let file = Mutex<OutputFile?>(nil)

  init(_ path: String, output: any OutputSink) {
    self.path = path
    self.output = output
  }

  var isOnOutput: Bool { path == Pipeline.inputMark }

  func write(_ heads: [UInt8]) throws(StreamError) {
    guard !isOnOutput else { return try output.write(heads) }
    try file.withLock { file throws(StreamError) in
      if file == nil {
        file = OutputFile(path)
        try file?.openAnew()
      }
      try file?.write(heads)
    }
  }

  /// All heads have come: the new file replaces the old one.
  func end(in context: CommandContext) -> ExitStatus {
    do throws(StreamError) {
      try file.withLock { file throws(StreamError) in if let file { try file.finish() } }
      return .answered
    } catch {
      context.reportError("-D: \(path.printable) cannot be written: \(error.reason).")
      return .streams
    }
  }
}
