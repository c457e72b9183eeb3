// SPDX-License-Identifier: Apache-2.0
internal import DnsctlCommands

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The folders in which a program is searched for.
struct SearchPath {
  /// The value of `PATH`, byte for byte.
  private let value: [UInt8]

  /// Finds it among variables, each `NAME=VALUE`; without it the folders are those of execvp(3).
  init(_ environment: [[UInt8]]) {
    value =
      environment.first { $0.starts(with: "PATH=".utf8) }.map { Array($0.dropFirst(5)) } ?? Array("/bin:/usr/bin".utf8)
  }

  /// The paths at which a program may be, in their order.
  func places(of program: [UInt8]) -> [[UInt8]] {
    let slash = UInt8(ascii: "/")
    guard !program.isEmpty, !program.contains(slash) else { return [program] }
    return value.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map { folder in
      folder.isEmpty ? program : folder + [slash] + program
    }
  }

  /// Why there is no file with that path, by errno(3); 0 if there is one, which a folder is not.
  static func error(_ path: [UInt8]) -> Int32 {
    var info = stat()
    let code = unsafe CStrings([path]).withPointers { unsafe $0[0].map { unsafe stat($0, &info) == 0 ? 0 : errno } }
    return code == 0 && info.st_mode & S_IFMT == S_IFDIR ? ENOENT : code ?? ENOENT
  }
}
