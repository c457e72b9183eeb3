// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Reports a service's state to systemd, and takes over the sockets that it hands over: sd_notify(3) and
/// sd_listen_fds(3), by the protocols that their man pages promise to keep, without libsystemd.
struct Systemd {
  /// A state that is reported.
  enum State {
    case ready(status: String)
    /// The configuration is being read again since that time of the monotonic clock; `ready` follows.
    case reloading(microseconds: UInt64)
    case stopping

    var text: String {
      switch self {
      // One line: a line's end would begin another assignment.
      case .ready(let status): "READY=1\nSTATUS=\(status.filter { !$0.isNewline })"
      case .reloading(let microseconds): "RELOADING=1\nMONOTONIC_USEC=\(microseconds)"
      case .stopping: "STOPPING=1"
      }
    }
  }

  /// The descriptors of the sockets that were handed over.
  let sockets: [Int32]
  /// Where systemd listens: a path, or `@` and a name of Linux's abstract namespace.
  private let place: String?

  /// Reads what a service manager has set.
  ///
  /// - Parameters:
  ///   - environment: the variables.
  ///   - process: this process's id; sockets for another process are left alone.
  init(_ environment: [String: String], process: Int32) {
    place = environment["NOTIFY_SOCKET"].flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
    // 3 is the first descriptor after the standard streams (SD_LISTEN_FDS_START).
    let isOurs = environment["LISTEN_PID"].flatMap { Int32($0) } == process
    let count = isOurs ? environment["LISTEN_FDS"].flatMap { Int32($0) } ?? 0 : 0
    sockets = (1...1024).contains(count) ? Array(3..<3 + count) : []
  }

  /// Reports a state; it is no error if nobody listens.
  func notify(_ state: State) {
    guard let place else { return }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var name = Array(place.utf8)
    if name[0] == UInt8(ascii: "@") { name[0] = 0 }
    let room = MemoryLayout.size(ofValue: address.sun_path)
    guard name.count < room else { return }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
    #if canImport(Glibc)
      let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    #else
      let descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
    #endif
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let bytes = Array(state.text.utf8)
    // An abstract name ends where the address does.
    let length = socklen_t(MemoryLayout<sockaddr_un>.size - room + name.count)
    _ = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe sendto(descriptor, bytes, bytes.count, 0, $0, length)
      }
    }
  }

  /// The monotonic clock, as `MONOTONIC_USEC` counts it.
  static var microseconds: UInt64 { DispatchTime.now().uptimeNanoseconds / 1000 }
}
