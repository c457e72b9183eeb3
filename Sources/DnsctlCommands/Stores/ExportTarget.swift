// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// A file that an export or a report goes into, from whatever thread: all of it or nothing.
///
/// An export that ends in the middle reads like a whole one.
final class ExportTarget: Sendable {
  private let file: Mutex<OutputFile>

  /// Opens the file; what was there, be it nothing, stays until ``finish()``, and for good without that.
  init(path: String) throws(StreamError) {
    let file = OutputFile(path, appearsWhole: true)
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
