// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Writing a file that holds secrets: never readable for others, not even for a moment.
enum PrivateFile {
  /// Writes a new file of mode 0600 beside the one at `path`, and then puts it in its place: all of it or nothing.
  ///
  /// What is no file is written to, as curl has it: it cannot be replaced.
  static func write(_ bytes: [UInt8], to path: String) throws(FileFailure) {
    if case .through(let isLink) = try FilePlace(path) {
      let file = try WritableFile.through(path, isLink: isLink, isPrivate: true)
      try file.write(bytes)
      return try file.end()
    }
    let name = "\(path).\(getpid()).\(UInt32.random(in: 0 ... .max))"
    let draft = try WritableFile.new(name, mode: WritableFile.privateMode)
    do throws(FileFailure) {
      try draft.write(bytes)
      try draft.end(inPlaceOf: path)
    } catch {
      draft.remove()
      throw error
    }
  }
}
