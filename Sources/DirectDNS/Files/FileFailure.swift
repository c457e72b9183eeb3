// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Why a file could not be written or read.
package struct FileFailure: Error, Hashable, Sendable {
  /// The system's number for it; 0 where the system was not asked.
  let code: Int32
  /// The reason, to follow "cannot be written: ".
  package let reason: String

  init(_ reason: String) {
    code = 0
    self.reason = reason
  }

  /// What the last failed call left in `errno`.
  ///
  /// - Parameter step: what the call was for; nil where that is plain.
  /// - Returns: the failure.
  static func last(_ step: String? = nil) -> FileFailure { FileFailure(code: errno, step: step) }

  private init(code: Int32, step: String?) {
    self.code = code
    let words = unsafe String(cString: strerror(code))
    reason = step.map { "\($0): \(words)" } ?? words
  }

  /// The reader of a pipe has gone.
  package var isClosedPipe: Bool { code == EPIPE }

  /// There is no such file.
  package var isMissing: Bool { code == ENOENT || code == ENOTDIR }

  /// This process may not do that.
  package var isForbidden: Bool { code == EACCES }

  /// No file may be made in the folder, or none with a longer name, while one that is there may be written all the same.
  package var forbidsNewFiles: Bool { [EACCES, EPERM, EROFS, EEXIST, ENAMETOOLONG].contains(code) }
}
