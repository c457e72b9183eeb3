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
  /// The value of `errno`; 0 if it did not come from a system call.
  let code: Int32
  /// The reason, to follow "cannot be written: ".
  package let reason: String

  init(_ reason: String) {
    code = 0
    self.reason = reason
  }

  /// The failure of the last system call, from `errno`.
  ///
  /// - Parameter step: what the call was for; nil if that is obvious.
  /// - Returns: the failure.
  static func last(_ step: String? = nil) -> FileFailure { FileFailure(code: errno, step: step) }

  /// - Parameters:
  ///   - code: as in `errno`.
  ///   - step: what was done; nil if that is obvious.
  init(code: Int32, step: String? = nil) {
    self.code = code
    let words = unsafe String(cString: strerror(code))
    reason = step.map { "\($0): \(words)" } ?? words
  }

  /// Checks that a name is one whole name for the system, which reads up to a NUL: the rest would be cut off.
  ///
  /// - Throws: where it is not, as a name can be that was written in JSON.
  static func checkName(_ path: String) throws(FileFailure) {
    guard !path.utf8.contains(0) else { throw FileFailure("its name has a NUL in it, where the system ends names") }
  }

  /// The reader of a pipe has gone.
  package var isClosedPipe: Bool { code == EPIPE }

  /// There is no such file.
  package var isMissing: Bool { code == ENOENT || code == ENOTDIR }

  /// This process may not do that.
  package var isForbidden: Bool { code == EACCES }

  /// No file may be created in the folder, or none with a longer name; an existing one may still be writable.
  package var forbidsNewFiles: Bool { [EACCES, EPERM, EROFS, EEXIST, ENAMETOOLONG].contains(code) }
}
