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
