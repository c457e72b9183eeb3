#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// What tells one state of a file from the next.
///
/// Symbolic links are followed, so that one that leads elsewhere is seen, as is a file that was moved into place
/// (another inode) and one that was written to (another time or size). How a Kubernetes ConfigMap changes is the first of
/// these: `..data` is swapped.
struct FileStamp: Hashable, Sendable {
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

  /// The stamp of what is at a path; nothing if there is nothing.
  init?(of path: String) {
    var information = stat()
    guard unsafe stat(path, &information) == 0 else { return nil }
    device = UInt64(truncatingIfNeeded: information.st_dev)
    inode = UInt64(truncatingIfNeeded: information.st_ino)
    size = Int64(information.st_size)
    #if canImport(Darwin)
      let (written, altered) = (information.st_mtimespec, information.st_ctimespec)
    #else
      let (written, altered) = (information.st_mtim, information.st_ctim)
    #endif
    modified = Instant(seconds: Int64(written.tv_sec), nanoseconds: Int64(written.tv_nsec))
    changed = Instant(seconds: Int64(altered.tv_sec), nanoseconds: Int64(altered.tv_nsec))
  }
}
