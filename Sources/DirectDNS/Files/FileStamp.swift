// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSFiles

/// What tells one state of a file from the next.
///
/// Symbolic links are followed, so that one that leads elsewhere is seen, as is a file that was moved into place
/// (another inode) and one that was written to (another time or size). How a Kubernetes ConfigMap changes is the first of
/// these: `..data` is swapped.
package struct FileStamp: Hashable, Sendable {
  private let device: UInt64
  private let inode: UInt64
  private let size: Int64
  private let modified: Instant
  /// Also moved by a change of rights, which may be what made the file readable.
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
