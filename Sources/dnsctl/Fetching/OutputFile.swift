#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A file that a response's body goes into, in such a way that a transfer that fails loses nothing.
///
/// A new file is written where it belongs, and what came stays there. A file that was there stays as it is until the new
/// one is whole, which lies beside it until then. Both can be gone on with.
final class OutputFile {
  /// Where it is.
  let path: String
  private let draftPath: String
  private var descriptor: Int32 = -1
  private var isDraft = false
  /// What was decided at the first byte holds for a second try: by then the file is there, and it is ours.
  private var isNew: Bool?

  init(_ path: String) {
    self.path = path
    draftPath = path + ".dnsctl-part"
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Bytes that can be gone on with: the draft's, or the file's own.
  func continuableLength() -> Int64 {
    if let length = Self.regularLength(draftPath) {
      isDraft = true
      return length
    }
    isDraft = false
    return Self.regularLength(path) ?? 0
  }

  /// Gets ready to write behind what ``continuableLength()`` found.
  func openToContinue() throws(StreamError) {
    try open(isDraft ? draftPath : path, O_WRONLY | O_APPEND)
  }

  /// Gets ready to write the file anew; nothing of it is lost before ``finish()``.
  func openAnew() throws(StreamError) {
    let isNew = isNew ?? (Self.replaceableMode(path) == nil)
    self.isNew = isNew
    if !isNew, let mode = Self.replaceableMode(path) {
      isDraft = true
      do throws(StreamError) {
        try open(draftPath, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW)
        fchmod(descriptor, mode & 0o7777)
        return
      } catch {
        // A folder in which no file can be made: the file itself may be writable all the same.
      }
    }
    isDraft = false
    // A draft of another time would be taken for this file's.
    unsafe unlink(draftPath)
    try open(path, O_WRONLY | O_CREAT | O_TRUNC)
  }

  func write(_ bytes: [UInt8]) throws(StreamError) {
    try DescriptorOutput(descriptor: descriptor).write(bytes)
  }

  /// The file is whole: puts it in its place.
  func finish() throws(StreamError) {
    guard descriptor >= 0 else { return }
    let isClosed = close(descriptor) == 0
    descriptor = -1
    guard isClosed else { throw .last }
    try putInPlace()
  }

  /// Puts a draft that turned out to be whole in its place.
  func putInPlace() throws(StreamError) {
    guard isDraft else { return }
    guard unsafe rename(draftPath, path) == 0 else { throw .last }
    isDraft = false
  }

  private func open(_ path: String, _ flags: Int32) throws(StreamError) {
    if descriptor >= 0 { close(descriptor) }
    descriptor = Self.systemOpen(path, flags | O_CLOEXEC)
    guard descriptor >= 0 else { throw .last }
  }

  private static func systemOpen(_ path: String, _ flags: Int32) -> Int32 {
    #if canImport(Darwin)
      unsafe Darwin.open(path, flags, 0o666)
    #elseif canImport(Musl)
      unsafe Musl.open(path, flags, 0o666)
    #else
      unsafe Glibc.open(path, flags, 0o666)
    #endif
  }

  private static func regularLength(_ path: String) -> Int64? {
    var information = stat()
    guard unsafe stat(path, &information) == 0, information.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int64(information.st_size)
  }

  /// The mode of a file that another can take the place of: no device, no link, and no other name of its own.
  private static func replaceableMode(_ path: String) -> mode_t? {
    var information = stat()
    guard unsafe lstat(path, &information) == 0, information.st_mode & S_IFMT == S_IFREG, information.st_nlink == 1
    else { return nil }
    return information.st_mode
  }
}
