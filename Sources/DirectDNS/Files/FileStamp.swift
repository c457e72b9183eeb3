// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSFiles

/// Identifies a state of a file, so that changes can be noticed.
///
/// Symbolic links are followed: the stamp changes if a link leads elsewhere, if a file was moved into place (another
/// inode), and if it was written (another time or size). A Kubernetes ConfigMap changes in the first way: its link
/// `..data` is replaced.
package struct FileStamp: Hashable, Sendable {
  private let device: UInt64
  private let inode: UInt64
  private let size: Int64
  private let modified: Instant
  /// Changes with the permissions too, which may have made the file readable.
  private let changed: Instant

  private struct Instant: Hashable {
    let seconds: Int64
    let nanoseconds: Int64
  }

  /// The stamp of what is at a path.
  ///
  /// - Returns: nil if there is nothing.
  package init?(of path: String) {
    var stamp = directdns_file_stamp()
    guard unsafe directdns_stamp(path, &stamp) != 0 else { return nil }
    device = stamp.device
    inode = stamp.inode
    size = stamp.size
    modified = Instant(seconds: stamp.modified.0, nanoseconds: stamp.modified.1)
    changed = Instant(seconds: stamp.changed.0, nanoseconds: stamp.changed.1)
  }
}
