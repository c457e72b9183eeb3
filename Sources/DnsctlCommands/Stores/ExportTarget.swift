// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// A file that an export goes into, from whatever thread.
final class ExportTarget: Sendable {
  private let file: Mutex<OutputFile>

  /// Opens the file; what was there stays until ``finish()``, and for good without that.
  init(path: String) throws(StreamError) {
    let file = OutputFile(path)
    try file.openAnew()
    self.file = Mutex(file)
  }

  deinit { file.withLock { $0.discard() } }

  func write(_ text: String) throws(StreamError) {
    try file.withLock { file throws(StreamError) in try file.write(Array(text.utf8)) }
  }

  func finish() throws(StreamError) {
    try file.withLock { file throws(StreamError) in try file.finish() }
  }
}
