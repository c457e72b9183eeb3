// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSFiles
internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A descriptor of this process that a path names, such as `/dev/stdout`.
///
/// Linux opens the file behind such a name once more, at its beginning: what a shell has redirected would be
/// overwritten, and what is written to the descriptor itself would overwrite that.
///
/// Only what the process was started with counts. What it opens by itself closes on `execve(2)`, which nothing
/// inherited does: under such a number lies a socket, or a store's database, where its user forgot to open a file.
package struct OwnDescriptor: Hashable, Sendable {
  let number: Int32

  /// Those of the numbers in the command line that the process was started with; nil where nobody has looked.
  private static let inherited = Mutex<Set<Int32>?>(nil)

  /// Looks which descriptors that paths in a command line name are there, before the process opens any.
  ///
  /// For a program the flag does not tell enough: libcurl 7.88 leaves the two sockets that wake it open on `execve(2)`.
  package static func look(at words: [String]) {
    let found = Set(words.compactMap(lastNumber).filter { isInherited($0) })
    inherited.withLock { $0 = found }
  }

  private static func isInherited(_ number: Int32) -> Bool {
    let flags = fcntl(number, F_GETFD)
    return flags >= 0 && flags & FD_CLOEXEC == 0
  }

  /// The number at the end of a word, be it a path by itself or behind an option.
  static func lastNumber(_ word: String) -> Int32? {
    guard let last = word.split(separator: "/").last(where: { $0 != "." }), last.utf8.allSatisfy(ASCII.isDigit) else {
      return nil
    }
    return Int32(last)
  }

  /// The descriptor that a path names; nil for any other path, or if it is not open for writing.
  ///
  /// - Throws: if it is one that this process has opened by itself.
  init?(named path: String) throws(FileFailure) {
    guard let number = Self.number(path) else { return nil }
    let flags = fcntl(number, F_GETFL)
    guard flags >= 0 else { return nil }
    // A folder like /dev may be anybody's: in a container it may hold files of those names.
    var (named, own) = (stat(), stat())
    guard unsafe stat(path, &named) == 0, unsafe fstat(number, &own) == 0, named.st_dev == own.st_dev,
      named.st_ino == own.st_ino
    else { return nil }
    let isStandard = number <= STDERR_FILENO
    guard Self.isInherited(number), isStandard || Self.inherited.withLock({ $0?.contains(number) ?? true }) else {
      throw FileFailure(code: EBADF)
    }
    guard flags & O_ACCMODE != O_RDONLY else { return nil }
    self.number = number
  }

  /// The number in a path.
  private static func number(_ path: String) -> Int32? {
    guard path.hasPrefix("/") else { return nil }
    let parts = path.split(separator: "/").filter { $0 != "." }
    switch parts.count {
    case 2 where parts[0] == "dev": return ["stdout": STDOUT_FILENO, "stderr": STDERR_FILENO][parts[1]]
    case 3 where parts[0] == "dev" && parts[1] == "fd": break
    case 4 where parts[0] == "proc" && ["self", "thread-self"].contains(parts[1]) && parts[2] == "fd": break
    default: return nil
    }
    return lastNumber(path)
  }
}
