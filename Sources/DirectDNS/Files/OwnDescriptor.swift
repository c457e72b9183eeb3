// SPDX-License-Identifier: Apache-2.0
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
struct OwnDescriptor: Hashable, Sendable {
  let number: Int32

  /// The descriptor that a path names; nil for any other path, or if it is not open for writing.
  init?(named path: String) {
    guard let number = Self.number(path) else { return nil }
    let flags = fcntl(number, F_GETFL)
    guard flags >= 0, flags & O_ACCMODE != O_RDONLY else { return nil }
    // A folder like /dev may be anybody's: in a container it may hold files of those names.
    var (named, own) = (stat(), stat())
    guard unsafe stat(path, &named) == 0, unsafe fstat(number, &own) == 0, named.st_dev == own.st_dev,
      named.st_ino == own.st_ino
    else { return nil }
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
    guard let last = parts.last, last.utf8.allSatisfy(ASCII.isDigit) else { return nil }
    return Int32(last)
  }
}
