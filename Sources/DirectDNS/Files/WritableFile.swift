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
/// A new file is created with `O_EXCL` and `O_NOFOLLOW`, and never has more permissions than it should: whatever
/// somebody put at a path that can be guessed is neither written nor followed.
package final class WritableFile {
  /// Where it was opened.
  package let path: String
  private var descriptor: Int32
  /// Whether others write the same open file, such as standard output: then only bytes are added.
  private let isShared: Bool

  /// Another number for an open descriptor, with its position and its flags.
  private init(_ path: String, sharing own: Int32) throws(FileFailure) {
    self.path = path
    isShared = true
    descriptor = fcntl(own, F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else { throw .last() }
  }

  private init(_ path: String, _ flags: Int32, mode: UInt32) throws(FileFailure) {
    self.path = path
    isShared = false
    try FileFailure.checkName(path)
    descriptor = unsafe open(path, flags | O_WRONLY | O_CLOEXEC, mode_t(mode))
    guard descriptor >= 0 else { throw .last() }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  // MARK: Opening

  /// Checks that this process may write a file; it is not opened.
  package static func check(_ path: String) throws(FileFailure) {
    guard unsafe access(path, W_OK) == 0 else { throw .last() }
  }

  /// Creates a file where there is none.
  package static func new(_ path: String, mode: UInt32) throws(FileFailure) -> WritableFile {
    try WritableFile(path, O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode)
  }

  /// Creates a file that is to replace another one, with the same group and permissions.
  package static func draft(_ path: String, inPlaceOf rights: FileRights) throws(FileFailure) -> WritableFile {
    // The permissions for the group and for others are set once the group is the right one.
    let draft = try new(path, mode: rights.mode & 0o700)
    do throws(FileFailure) {
      guard fchown(draft.descriptor, uid_t.max, gid_t(rights.group)) == 0,
        fchmod(draft.descriptor, mode_t(rights.mode)) == 0
      else { throw .last("giving the new file the old one's permissions") }
      return draft
    } catch {
      draft.remove()
      throw error
    }
  }

  /// Opens what is at a path to write it in place, from the beginning: a device, a FIFO, the target of a link.
  ///
  /// It waits until somebody opens a FIFO for reading. A name of an own descriptor, such as `/dev/stdout`, is that
  /// descriptor: what is in its file stays, as do its permissions, and bytes come after those that were written to it.
  ///
  /// - Parameters:
  ///   - path: where it is.
  ///   - isLink: whether it is a link, which is then followed; a link that was put there since is not.
  ///   - isPrivate: whether only its owner may read and write a regular file from then on, even if it was there before.
  /// - Returns: the file; a regular one is empty now, unless it is an own descriptor's.
  /// - Throws: why it cannot be written.
  package static func inPlace(_ path: String, isLink: Bool, isPrivate: Bool) throws(FileFailure) -> WritableFile {
    if let own = try OwnDescriptor(named: path) { return try WritableFile(path, sharing: own.number) }
    // With O_CREAT the kernel refuses files and FIFOs of others in folders like /tmp (fs.protected_regular).
    let file = try WritableFile(
      path, O_CREAT | (isLink ? 0 : O_NOFOLLOW), mode: isPrivate ? privateMode : ordinaryMode)
    // Unknown, it would be taken for a device, and neither be emptied nor made private.
    guard let found = file.status else { throw .last() }
    guard found.st_mode & S_IFMT == S_IFREG else { return file }
    if isPrivate, fchmod(file.descriptor, mode_t(privateMode)) != 0 { throw .last("making it private") }
    try file.startOver()
    return file
  }

  /// The permissions of new files: those that the umask leaves, or only for their owner.
  package static let ordinaryMode: UInt32 = 0o666
  static let privateMode: UInt32 = 0o600

  /// Opens a file to append to it; nil if there is no regular file.
  ///
  /// A descriptor of this process is none, whatever it is open at: what is there is not the beginning of the rest.
  package static func toContinue(_ path: String) throws(FileFailure) -> WritableFile? {
    guard try OwnDescriptor(named: path) == nil else { return nil }
    let isLink: Bool
    switch try PathTarget(path) {
    case .missing: return nil
    case .file: isLink = false
    case .inPlace(let found): isLink = found
    }
    var found = stat()
    // Opening a FIFO or a device may block, or have an effect.
    guard unsafe stat(path, &found) == 0, found.st_mode & S_IFMT == S_IFREG else { return nil }
    let file = try WritableFile(path, O_APPEND | O_NONBLOCK | (isLink ? 0 : O_NOFOLLOW), mode: 0)
    return file.length == nil ? nil : file
  }

  /// Opens a draft to append to it; nil if there is none, or if it is not ours.
  package static func draftToContinue(_ path: String) throws(FileFailure) -> WritableFile? {
    guard case .file(let rights, hasOtherNames: false)? = try? PathTarget(path), rights.isOurs else { return nil }
    let file = try WritableFile(path, O_APPEND | O_NONBLOCK | O_NOFOLLOW, mode: 0)
    guard let found = file.status, found.st_nlink == 1, FileRights(found).isOurs, file.length != nil else { return nil }
    return file
  }

  // MARK: Using

  private var status: stat? {
    var found = stat()
    return unsafe fstat(descriptor, &found) == 0 ? found : nil
  }

  /// The number of its bytes; nil for anything but a regular file of its own.
  package var length: Int64? {
    guard !isShared, let status, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int64(status.st_size)
  }

  /// Writes bytes after those that were written before.
  package func write(_ bytes: [UInt8]) throws(FileFailure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe systemWrite(descriptor, $0) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN, isShared {
        // Another process that shares it may have made it non-blocking.
        directdns_wait_until_writable(descriptor)
      } else if errno != EINTR {
        throw .last()
      }
    }
  }

  /// Drops all that was written.
  package func startOver() throws(FileFailure) {
    guard !isShared else { throw FileFailure("what was written there cannot be taken back") }
    guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else { throw .last() }
  }

  // MARK: Ending

  /// Closes it; a write that the system has delayed may fail here.
  package func end() throws(FileFailure) {
    guard descriptor >= 0 else { return }
    let isClosed = close(descriptor) == 0
    let failure = FileFailure.last()
    descriptor = -1
    if !isClosed { throw failure }
  }

  /// Puts a complete draft in its place and closes it, such that it survives a power failure.
  package func end(inPlaceOf target: String) throws(FileFailure) {
    // Without this a power failure after the rename could leave an empty file.
    guard directdns_sync(descriptor) == 0 else { throw .last() }
    guard isStillThere else { throw FileFailure("another process writes it, too") }
    // Opened first, so that a failure, such as no free descriptor, comes before anything is changed.
    let folder = unsafe open(Self.folder(of: target), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // This process may be allowed to write the folder but not to read it: then it is not synced.
    guard folder >= 0 || errno == EACCES else { throw .last("opening its folder") }
    defer { if folder >= 0 { close(folder) } }
    // Still open, so that who is told that this failed can remove it.
    guard unsafe rename(path, target) == 0 else { throw .last("putting it in place") }
    try end()
    // The new name is part of the folder: without this a power failure could bring the old file back.
    if folder >= 0 { try Self.syncFolder(folder) }
  }

  /// The path of a draft beside a file: its name and an ending, cut so that a folder can have it (NAME_MAX, limits.h(0P)).
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - ending: what the draft's name ends with.
  /// - Returns: the draft's path.
  package static func draftPath(of path: String, ending: String) -> String {
    let length = path.utf8.reversed().prefix { $0 != ASCII.slash }.count
    var (excess, kept) = (length + ending.utf8.count - 255, path[...])
    while excess > 0, let last = kept.popLast() { excess -= last.utf8.count }
    return kept + ending
  }

  /// The folder that a file lies in.
  package static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: ASCII.slash) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Syncs a folder; some file systems cannot, and say so (fsync(2)): EINVAL, or ENOTSUP over a network.
  static func syncFolder(_ descriptor: Int32) throws(FileFailure) {
    while directdns_sync(descriptor) != 0 {
      guard errno != EINVAL, errno != ENOTSUP else { return }
      guard errno == EINTR else { throw .last("syncing its folder") }
    }
  }

  /// Closes it, and removes it if it is still the file at its path.
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

  /// A line that is kept with the file, even if it is renamed, to continue writing it later.
  ///
  /// It is an extended attribute; file systems without them do not keep it.
  package var note: String? {
    get {
      var bytes = [UInt8](repeating: 0, count: 2048)
      let count = unsafe bytes.withUnsafeMutableBytes {
        unsafe directdns_get_attribute(descriptor, Self.noteName, $0.baseAddress, $0.count)
      }
      return count < 0 ? nil : String(validating: bytes.prefix(count), as: UTF8.self)
    }
    set {
      guard !isShared else { return }
      // An old note must not stay if the new one cannot be set.
      _ = unsafe directdns_remove_attribute(descriptor, Self.noteName)
      guard let bytes = newValue.map({ Array($0.utf8) }) else { return }
      _ = unsafe directdns_set_attribute(descriptor, Self.noteName, bytes, bytes.count)
    }
  }
}

// `write(2)`, since a method of the class has the same name.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  unsafe write(descriptor, bytes.baseAddress, bytes.count)
}
