// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSFiles

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A file that is open for writing: every file that is written is opened here.
///
/// One that is made is made anew (`O_EXCL`, `O_NOFOLLOW`), with no right too many from its first moment on: what somebody
/// planted at a path that can be guessed is neither written to nor followed.
package final class WritableFile {
  /// Where it was opened.
  package let path: String
  private var descriptor: Int32

  private init(_ path: String, _ flags: Int32, mode: UInt32) throws(FileFailure) {
    self.path = path
    descriptor = unsafe open(path, flags | O_WRONLY | O_CLOEXEC, mode_t(mode))
    guard descriptor >= 0 else { throw .last() }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  // MARK: Opening

  /// Asks whether this process may write a file; nothing is opened.
  package static func check(_ path: String) throws(FileFailure) {
    guard unsafe access(path, W_OK) == 0 else { throw .last() }
  }

  /// Makes a file where there is none.
  package static func new(_ path: String, mode: UInt32) throws(FileFailure) -> WritableFile {
    try WritableFile(path, O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
  }

  /// Makes a file that is to take the place of another, with that one's rights.
  package static func draft(_ path: String, inPlaceOf rights: FileRights) throws(FileFailure) -> WritableFile {
    // The group's and everybody's rights come once the group is the right one.
    let draft = try new(path, mode: rights.mode & 0o700)
    do throws(FileFailure) {
      guard fchown(draft.descriptor, uid_t.max, gid_t(rights.group)) == 0,
        fchmod(draft.descriptor, mode_t(rights.mode)) == 0
      else { throw .last("giving the new file the old one's rights") }
      return draft
    } catch {
      draft.remove()
      throw error
    }
  }

  /// Opens what is there to write it from its beginning, as it is: a device, a FIFO, what a link leads to.
  ///
  /// A FIFO is waited for until somebody reads it.
  ///
  /// - Parameters:
  ///   - path: where it is.
  ///   - isLink: whether it is a link, which is followed; one that has come meanwhile is not.
  ///   - isPrivate: whether a file, there already or not, is for its owner's eyes alone from then on.
  /// - Returns: the file; one that was there is empty.
  /// - Throws: why it cannot be written.
  package static func through(_ path: String, isLink: Bool, isPrivate: Bool) throws(FileFailure) -> WritableFile {
    // With O_CREAT the kernel looks after others' files and FIFOs in folders like /tmp (fs.protected_regular).
    let file = try WritableFile(
      path, O_CREAT | (isLink ? 0 : O_NOFOLLOW), mode: isPrivate ? privateMode : ordinaryMode)
    guard file.length != nil else { return file }
    if isPrivate, fchmod(file.descriptor, mode_t(privateMode)) != 0 { throw .last("making it private") }
    try file.startOver()
    return file
  }

  /// What new files get: as the umask has it, or for their owner alone.
  package static let ordinaryMode: UInt32 = 0o666
  static let privateMode: UInt32 = 0o600

  /// Opens a file to write behind what is there; nil if there is no file.
  package static func toContinue(_ path: String) throws(FileFailure) -> WritableFile? {
    let isLink: Bool
    switch try FilePlace(path) {
    case .free: return nil
    case .file: isLink = false
    case .through(let found): isLink = found
    }
    var found = stat()
    // Opening a FIFO or a device may wait, or do something.
    guard unsafe stat(path, &found) == 0, found.st_mode & S_IFMT == S_IFREG else { return nil }
    let file = try WritableFile(path, O_APPEND | O_NONBLOCK | (isLink ? 0 : O_NOFOLLOW), mode: 0)
    return file.length == nil ? nil : file
  }

  /// Opens a draft to write behind what is there; nil if there is none, or if it is none of ours.
  package static func draftToContinue(_ path: String) throws(FileFailure) -> WritableFile? {
    guard case .file(let rights, hasOtherNames: false)? = try? FilePlace(path), rights.isOurs else { return nil }
    let file = try WritableFile(path, O_APPEND | O_NONBLOCK | O_NOFOLLOW, mode: 0)
    guard let found = file.status, found.st_nlink == 1, FileRights(found).isOurs, file.length != nil else { return nil }
    return file
  }

  // MARK: Using

  private var status: stat? {
    var found = stat()
    return unsafe fstat(descriptor, &found) == 0 ? found : nil
  }

  /// The bytes that are there; nil for what is no file.
  package var length: Int64? {
    guard let status, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int64(status.st_size)
  }

  /// Writes bytes behind what was written.
  package func write(_ bytes: [UInt8]) throws(FileFailure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe systemWrite(descriptor, $0) }
      guard count >= 0 || errno == EINTR else { throw .last() }
      rest = rest.dropFirst(max(0, count))
    }
  }

  /// Drops all that was written.
  package func startOver() throws(FileFailure) {
    guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else { throw .last() }
  }

  // MARK: Ending

  /// Closes it; what the system wrote late may fail here.
  package func end() throws(FileFailure) {
    guard descriptor >= 0 else { return }
    let isClosed = close(descriptor) == 0
    let failure = FileFailure.last()
    descriptor = -1
    if !isClosed { throw failure }
  }

  /// Closes a draft that is whole, and has it take its place: it is there after a power failure, too.
  package func end(inPlaceOf target: String) throws(FileFailure) {
    // Without this a power failure after the rename could leave an empty file.
    guard fsync(descriptor) == 0 else { throw .last() }
    guard isStillThere else { throw FileFailure("another process writes it, too") }
    // Opened first: what cannot be had, a descriptor say, is told while everything is as it was.
    let folder = unsafe open(Self.folder(of: target), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A folder may be ours to write to and not to read: it is left to the system then.
    guard folder >= 0 || errno == EACCES else { throw .last("opening its folder") }
    defer { if folder >= 0 { close(folder) } }
    try end()
    guard unsafe rename(path, target) == 0 else { throw .last("putting it in place") }
    // The new name is the folder's: without this a power failure could bring the old file back.
    if folder >= 0 { try Self.syncFolder(folder) }
  }

  static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: ASCII.slash) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Some file systems have nothing to sync of a folder, and say so (fsync(2)): EINVAL, or ENOTSUP over a network.
  static func syncFolder(_ descriptor: Int32) throws(FileFailure) {
    while fsync(descriptor) != 0 {
      guard errno != EINVAL, errno != ENOTSUP else { return }
      guard errno == EINTR else { throw .last("syncing its folder") }
    }
  }

  /// Closes it, and removes it where it is still what its path leads to.
  package func remove() {
    if isStillThere { unsafe unlink(path) }
    try? end()
  }

  private var isStillThere: Bool {
    var found = stat()
    guard let status, unsafe lstat(path, &found) == 0 else { return false }
    return found.st_dev == status.st_dev && found.st_ino == status.st_ino
  }

  // MARK: A note on it

  private static let noteName = "user.directdns.note"

  /// A line kept with the file, whatever it is called, for as long as it is worked at.
  ///
  /// It is an extended attribute: file systems without them keep none.
  package var note: String? {
    get {
      var bytes = [UInt8](repeating: 0, count: 2048)
      let count = unsafe bytes.withUnsafeMutableBytes {
        unsafe directdns_get_attribute(descriptor, Self.noteName, $0.baseAddress, $0.count)
      }
      return count < 0 ? nil : String(validating: bytes.prefix(count), as: UTF8.self)
    }
    set {
      // An old note must not stand where the new one cannot.
      _ = unsafe directdns_remove_attribute(descriptor, Self.noteName)
      guard let bytes = newValue.map({ Array($0.utf8) }) else { return }
      _ = unsafe directdns_set_attribute(descriptor, Self.noteName, bytes, bytes.count)
    }
  }
}

// The C call whose name a method above has too.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  unsafe write(descriptor, bytes.baseAddress, bytes.count)
}
