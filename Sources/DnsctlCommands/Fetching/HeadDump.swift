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
    let failure: StreamError? = file.withLock { file in
      do throws(StreamError) {
        if file == nil {
          file = OutputFile(path)
          try file?.openAnew()
        }
        try file?.write(heads)
        return nil
      } catch { return error }
    }
    if let failure { throw failure }
  }

  /// All heads have come: the new file replaces the old one.
  func end(in context: CommandContext) -> ExitStatus {
    let failure: StreamError? = file.withLock { file in
      do throws(StreamError) {
        try file?.finish()
        return nil
      } catch { return error }
    }
    guard let failure else { return .answered }
    context.reportError("-D: \(path.printable) cannot be written: \(failure.reason).")
    return .streams
  }
}
