// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The descriptors that this process inherited, to be passed on to a program that it starts.
///
/// Its own are not passed on: SwiftNIO's sockets stay open across exec(2), so that the program could use the proxy's
/// connections, and a process that it leaves running would keep the proxy's port.
struct InheritedDescriptors: Sendable {
  private let numbers: Set<Int32>

  private static let taken = Locked<InheritedDescriptors?>(nil)

  /// Takes those that are open now for those of this process's start.
  ///
  /// To be called before libdispatch has threads: they open files for a moment, and another file may have such a number
  /// later.
  static func take() { taken.withLock { $0 = InheritedDescriptors() } }

  /// Those of this process's start.
  static var ofStart: InheritedDescriptors { taken.withLock(\.self) ?? InheritedDescriptors() }

  /// Those that are open now, without what closes when a program starts.
  init() { numbers = Set(Self.open().filter { fcntl($0, F_GETFD) & FD_CLOEXEC == 0 }) }

  /// Makes all others close when a program starts.
  func closeOthersOnExec() {
    for descriptor in Self.open() where descriptor > STDERR_FILENO && !numbers.contains(descriptor) {
      let flags = fcntl(descriptor, F_GETFD)
      if flags >= 0 { _ = fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) }
    }
  }

  private static func open() -> [Int32] {
    // There may be no such folder, or no descriptor or memory left to read it.
    guard let folder = unsafe opendir("/dev/fd") else { return tried() }
    defer { unsafe closedir(folder) }
    let own = unsafe dirfd(folder)
    var numbers: [Int32] = []
    while let entry = unsafe readdir(folder) {
      // Read in place, not from a copy: the structure's room for the name is larger than what the system has written.
      guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { continue }
      let text = unsafe UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
      let name = unsafe String(cString: text)
      if let number = Int32(name), number != own { numbers.append(number) }
    }
    return numbers
  }

  /// The same by asking for each number that the limit of this process allows, and a million at most, some 50 ms.
  static func tried() -> [Int32] {
    let limit = sysconf(Int32(_SC_OPEN_MAX))
    return (0..<Int32(clamping: limit < 0 ? 1 << 20 : min(limit, 1 << 20))).filter { fcntl($0, F_GETFD) >= 0 }
  }
}
