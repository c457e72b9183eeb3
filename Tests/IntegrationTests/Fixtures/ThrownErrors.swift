// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What swift-testing keeps of the errors that are thrown.
enum ThrownErrors {
  /// Has no backtraces kept any more, for the rest of the process.
  ///
  /// swift-testing keeps one of each error, caught or not, until the test ends. Under a test of an hour that is memory that
  /// grows: each cancelled `Task.sleep` throws one. The Swift runtime has two hooks that it is told by, which are emptied.
  static func keepNoBacktraces() {
    #if os(Linux)
      typealias SetHandler = @convention(c) (UnsafeRawPointer?) -> Void
      if let function = unsafe dlsym(nil, "_swift_setWillThrowHandler") {
        unsafe unsafeBitCast(function, to: SetHandler.self)(nil)
      }
      if let typed = unsafe dlsym(nil, "_swift_willThrowTypedImpl") {
        unsafe typed.assumingMemoryBound(to: UnsafeRawPointer?.self).pointee = nil
      }
    #endif
  }
}
