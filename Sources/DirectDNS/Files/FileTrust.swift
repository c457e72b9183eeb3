// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSFiles

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

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
  package init(_ rights: FileRights, user: UInt32) {
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
