// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Standard output without a buffer.
enum FileOutput {
  struct Closed: Error {}

  static func say(_ line: String) throws {
    let bytes = Array("\(line)\n".utf8)
    let count = unsafe bytes.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
    if count != bytes.count { throw Closed() }
  }
}
