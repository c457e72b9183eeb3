// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSFiles

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

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
