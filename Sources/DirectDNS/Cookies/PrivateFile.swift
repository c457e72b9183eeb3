#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Writing a file that holds secrets: whole or not at all, and never readable for others, not even for a moment.
///
/// Foundation sets a file's mode after it has made the file, which leaves that moment: hence the system's own calls.
enum PrivateFile {
  /// Why a file could not be written.
  struct Failure: Error {
    let step: String
    let code: Int32

    var reason: String { unsafe "\(step): \(String(cString: strerror(code)))" }
  }

  /// Writes a new file of mode 0600 beside the one at `path`, and then puts it in its place.
  static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
    let draft = "\(path).\(getpid()).\(UInt32.random(in: 0 ... .max))"
    let file = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure("creating a file beside it") }
    do {
      defer { close(file) }
      try fill(file, with: bytes)
    } catch {
      unsafe unlink(draft)
      throw error
    }
    guard unsafe rename(draft, path) == 0 else {
      let error = failure("putting it in place")
      unsafe unlink(draft)
      throw error
    }
  }

  private static func fill(_ file: Int32, with bytes: [UInt8]) throws(Failure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Self.write(file, $0) }
      guard count > 0 || (count < 0 && errno == EINTR) else { throw failure("writing") }
      rest = rest.dropFirst(max(0, count))
    }
    // Without this a power failure after the rename could leave an empty file.
    guard fsync(file) == 0 else { throw failure("writing") }
  }

  private static func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Darwin)
      unsafe Darwin.write(file, bytes.baseAddress, bytes.count)
    #else
      unsafe Glibc.write(file, bytes.baseAddress, bytes.count)
    #endif
  }

  private static func failure(_ step: String) -> Failure { Failure(step: step, code: errno) }
}
