// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSFiles

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// What is at the end of a path that is to be written: it says how.
package enum FilePlace: Hashable, Sendable {
  /// Nothing: a file is made.
  case free
  /// A file: another one can take its place, unless it is to keep its other names.
  case file(FileRights, hasOtherNames: Bool)
  /// A FIFO, a device, a link: what is there is written to, and stays what it is.
  case through(isLink: Bool)

  /// Looks at what is there.
  ///
  /// - Throws: that it is a link which somebody else may lead elsewhere. `fs.protected_symlinks` of Linux refuses those in
  ///   folders like `/tmp`, where it is on.
  package init(_ path: String) throws(FileFailure) {
    var found = stat()
    guard unsafe lstat(path, &found) == 0 else {
      guard errno == ENOENT else { throw .last() }
      self = .free
      return
    }
    switch found.st_mode & S_IFMT {
    case S_IFREG: self = .file(FileRights(found), hasOtherNames: found.st_nlink > 1)
    case S_IFLNK:
      guard found.st_uid == 0 || found.st_uid == geteuid() else {
        throw FileFailure("it is a link of user \(found.st_uid). Name the file that it leads to")
      }
      self = .through(isLink: true)
    default: self = .through(isLink: false)
    }
  }
}

/// Who may do what with a file.
package struct FileRights: Hashable, Sendable {
  let owner: UInt32
  let group: UInt32
  /// The permissions, without the file's kind.
  let mode: UInt32

  init(owner: UInt32, group: UInt32, mode: UInt32) {
    self.owner = owner
    self.group = group
    self.mode = mode
  }

  init(_ found: stat) {
    self.init(owner: found.st_uid, group: found.st_gid, mode: UInt32(found.st_mode) & 0o7777)
  }

  /// Whether the file is this process's user's.
  package var isOurs: Bool { owner == geteuid() }
}

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

/// Whether a file that says where names lead may be gone by: who can write to it can say so.
///
/// What everybody may write to is refused, as ssh refuses it. What its group or another user may write to is used, with a
/// warning: in containers and on shared machines that is often meant. The superuser is trusted. Folders are not looked at.
package enum FileTrust: Hashable, Sendable {
  case trusted
  /// Used, with a warning: the text follows the file's name.
  case doubtful(String)
  /// Not used: the text follows the file's name.
  case refused(String)

  /// Judges by who owns a file and who may write to it.
  ///
  /// - Parameters:
  ///   - rights: the file's.
  ///   - user: whose process it is.
  init(_ rights: FileRights, user: UInt32) {
    if rights.mode & 0o002 != 0 {
      self = .refused(
        "may be written to by everybody (mode \(String(rights.mode, radix: 8))), so anybody can say where names lead. Run chmod go-w on it."
      )
    } else if rights.owner != 0 && rights.owner != user {
      self = .doubtful(
        "belongs to user \(rights.owner), who can say where names lead. Make user \(user) or root its owner.")
    } else if rights.mode & 0o020 != 0, rights.group != rights.owner {
      // Where each user has a group of his own, its number is his, and files are often made with its rights.
      self = .doubtful(
        "may be written to by group \(rights.group), whose members can say where names lead. Run chmod g-w on it.")
    } else {
      self = .trusted
    }
  }

  /// Judges the file that a path leads to; what is no file, or not there, is nobody's to change.
  package init(path: String) {
    var found = stat()
    guard unsafe stat(path, &found) == 0, found.st_mode & S_IFMT == S_IFREG else {
      self = .trusted
      return
    }
    self.init(FileRights(found), user: geteuid())
  }
}
