// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// A file for an export or a report, which any thread may write; it appears complete or not at all.
///
/// An export that ends in the middle would look complete.
final class ExportTarget: Sendable {
  private let file: Mutex<OutputFile>

  /// Opens the file; an existing one stays unless ``finish()`` is called.
  init(path: String) throws(StreamError) {
    let file = OutputFile(path, isAtomic: true)
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
