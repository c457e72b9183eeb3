// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSFiles

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// What is at a path that is to be written, which decides how to write it.
package enum PathTarget: Hashable, Sendable {
  /// Nothing: a file is created.
  case missing
  /// A regular file: another one can replace it, unless it is to keep its other names (hard links).
  case file(FileRights, hasOtherNames: Bool)
  /// A FIFO, a device, a link, an own descriptor or a file that is mounted by itself: it is written in place.
  case inPlace(isLink: Bool)

  /// Looks at what is there.
  ///
  /// - Throws: that it is a link of another user, who may point it elsewhere, or why nothing can be found out. If
  ///   `fs.protected_symlinks` is on, Linux refuses such links in folders like `/tmp`.
  package init(_ path: String) throws(FileFailure) {
    // Darwin has no links there: /dev/fd/1 looks like the file itself.
    guard try OwnDescriptor(named: path) == nil else {
      self = .inPlace(isLink: true)
      return
    }
    var found = stat()
    guard unsafe lstat(path, &found) == 0 else {
      guard errno == ENOENT else { throw .last() }
      self = .missing
      return
    }
    switch found.st_mode & S_IFMT {
    case S_IFREG where unsafe directdns_is_mount_point(path) != 0: self = .inPlace(isLink: false)
    case S_IFREG: self = .file(FileRights(found), hasOtherNames: found.st_nlink > 1)
    case S_IFLNK:
      guard found.st_uid == 0 || found.st_uid == geteuid() else {
        throw FileFailure("it is a link of user \(found.st_uid). Name the file that it leads to")
      }
      self = .inPlace(isLink: true)
    default: self = .inPlace(isLink: false)
    }
  }
}

/// The owner, the group and the permissions of a file.
package struct FileRights: Hashable, Sendable {
  let owner: UInt32
  let group: UInt32
  /// The permissions, without the file's type.
  let mode: UInt32

  init(owner: UInt32, group: UInt32, mode: UInt32) {
    self.owner = owner
    self.group = group
    self.mode = mode
  }

  init(_ found: stat) {
    self.init(owner: found.st_uid, group: found.st_gid, mode: UInt32(found.st_mode) & 0o7777)
  }

  /// Whether the file belongs to this process's user.
  package var isOurs: Bool { owner == geteuid() }
}

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

/// Whether to trust a file that says where names lead: anyone who can write it can decide that.
///
/// A file that everybody may write is refused, as ssh does. A file that its group or another user may write is used
/// with a warning: in containers and on shared machines that is often intended. The superuser is trusted. Folders are
/// not checked.
package enum FileTrust: Hashable, Sendable {
  case trusted
  /// Used, with a warning: the text follows the file's name.
  case doubtful(String)
  /// Not used: the text follows the file's name.
  case refused(String)

  /// Checks a file by its owner and by who may write it.
  ///
  /// - Parameters:
  ///   - rights: the file's owner, group and permissions.
  ///   - user: the user of this process.
  init(_ rights: FileRights, user: UInt32) {
    if rights.mode & 0o002 != 0 {
      self = .refused(
        "may be written to by everybody (mode \(String(rights.mode, radix: 8))), so anybody can say where names lead. Run chmod go-w on it."
      )
    } else if rights.owner != 0 && rights.owner != user {
      self = .doubtful(
        "belongs to user \(rights.owner), who can say where names lead. Make user \(user) or root its owner.")
    } else if rights.mode & 0o020 != 0, rights.group != rights.owner {
      // If each user has a private group, it has the user's number, and files are often created writable for it.
      self = .doubtful(
        "may be written to by group \(rights.group), whose members can say where names lead. Run chmod g-w on it.")
    } else {
      self = .trusted
    }
  }

  /// Checks the file that a path leads to; anything but a regular file is trusted, as is nothing at all.
  package init(path: String) {
    var found = stat()
    guard unsafe stat(path, &found) == 0, found.st_mode & S_IFMT == S_IFREG else {
      self = .trusted
      return
    }
    self.init(FileRights(found), user: geteuid())
  }
}
