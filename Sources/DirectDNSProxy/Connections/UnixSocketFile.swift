// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The file of a Unix socket that we listen at.
///
/// It stays if its program is killed, and the next program has to remove it, but never while a program still listens
/// there. At the end only our own file may be removed, since another program may listen at the path by then. SwiftNIO
/// checks neither, and removes whatever is at the path.
struct UnixSocketFile: Sendable {
  private let path: String
  private let device: UInt64
  private let node: UInt64

  /// Who may connect.
  struct Access: Sendable {
    fileprivate let owner: uid_t
    fileprivate let group: gid_t
    fileprivate let mode: mode_t
  }

  /// Notes the file that is there now; nil if there is none.
  private init?(at path: String) {
    guard let status = Self.status(of: path) else { return nil }
    self.path = path
    (device, node) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino))
  }

  /// Listens at a path; replaces the file of a socket at which nobody listens.
  ///
  /// - Parameters:
  ///   - path: the path.
  ///   - access: who may connect; nil for what comes of the process and its umask.
  /// - Returns: the socket, which is the caller's, and its file.
  /// - Throws: if somebody listens there or another file is there, and the errors of bind(2) and the other calls.
  static func listen(at path: String, for access: Access? = nil) throws -> (socket: Int32, file: UnixSocketFile) {
    // Otherwise of two programs that find the same dead socket, one would remove the socket that the other has just made.
    let lock = lockFolder(of: path)
    // This unlocks it.
    defer { if lock >= 0 { close(lock) } }
    try removeDead(at: path)
    let descriptor = try makeSocket()
    do {
      try unsafe call("bind", path) { unsafe bind(descriptor, $0, $1) }
      guard let file = UnixSocketFile(at: path) else { throw IOError(errnoCode: ENOENT, reason: "bind") }
      if let access { give(access, to: path) }
      guard systemListen(descriptor) == 0 else {
        let error = IOError(errnoCode: errno, reason: "listen")
        file.remove()
        throw error
      }
      return (descriptor, file)
    } catch {
      close(descriptor)
      throw error
    }
  }

  /// Removes the file if it is still the one that was noted.
  ///
  /// The socket has to be open still: as long as it is, no other file gets the number of this one.
  func remove() {
    if isThere { _ = unsafe unlink(path) }
  }

  /// Who may connect by now; nil if the file is not there any more.
  var access: Access? {
    guard isThere, let status = Self.status(of: path) else { return nil }
    return Access(owner: status.st_uid, group: status.st_gid, mode: status.st_mode)
  }

  private var isThere: Bool {
    let now = UnixSocketFile(at: path)
    return now?.device == device && now?.node == node
  }

  /// Locks the folder of a path against others that begin to listen in it.
  ///
  /// - Returns: the folder's descriptor, which is the caller's to close; -1 if there is none to be had.
  private static func lockFolder(of path: String) -> Int32 {
    let descriptor = unsafe open(WritableFile.folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return -1 }
    // flock(2) has no time limit of its own. We hold it for microseconds. Others may for as long as they run, to keep systemd-tmpfiles(8) from the folder, and
    // some file systems have no locks: then it is not waited for any longer.
    for _ in 0..<500 {
      guard flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR else { break }
      usleep(1000)
    }
    return descriptor
  }

  /// Sets who may connect; nobody can before the socket listens.
  private static func give(_ access: Access, to path: String) {
    // What the group may do is not for the members of another one.
    let isSameGroup = unsafe lchown(path, access.owner, access.group) == 0
    _ = unsafe chmod(path, access.mode & (isSameGroup ? 0o777 : 0o707))
  }

  private static func removeDead(at path: String) throws {
    guard let status = status(of: path) else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw DirectDNSError(
        .cannotListen,
        "unix:\(path): the proxy cannot listen there: the file there is not a socket: choose another path.")
    }
    let descriptor = try makeSocket()
    defer { close(descriptor) }
    // Otherwise this would wait for a listener whose backlog is full.
    guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else { throw IOError(errnoCode: errno, reason: "fcntl") }
    do {
      try unsafe call("connect", path) { unsafe connect(descriptor, $0, $1) }
    } catch let error as IOError where error.errnoCode == ECONNREFUSED {
      // Nobody listens at the file. With any other error somebody does.
      _ = unsafe unlink(path)
      return
    } catch _ as IOError {}
    throw DirectDNSError(
      .cannotListen,
      "unix:\(path): the proxy cannot listen there: another program listens there: choose another path, or end it.")
  }

  private static func status(of path: String) -> stat? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status : nil
  }

  private static func makeSocket() throws -> Int32 {
    #if canImport(Darwin)
      let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
      if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    #elseif canImport(Musl)
      let descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)
    #else
      let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    #endif
    guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
    return descriptor
  }

  /// Calls a function that takes a socket's address.
  private static func call(
    _ name: String, _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) throws {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let room = MemoryLayout.size(ofValue: address.sun_path)
    guard bytes.count < room, !bytes.contains(0) else {
      throw DirectDNSError(
        .cannotListen,
        "unix:\(path): the proxy cannot listen there: the path of a socket has \(room - 1) bytes at most: take a shorter one."
      )
    }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let code = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard code == 0 else { throw IOError(errnoCode: errno, reason: name) }
  }
}

/// `listen(2)`, which the type's own function of that name hides.
private func systemListen(_ descriptor: Int32) -> Int32 { listen(descriptor, 1024) }
