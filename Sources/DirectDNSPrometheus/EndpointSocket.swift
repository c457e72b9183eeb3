// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSSockets
internal import DirectDNS

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A socket, without blocking and not inherited by other programs; whoever holds it closes it.
struct EndpointSocket: Sendable, Hashable {
  let descriptor: Int32

  /// What came of reading or writing.
  enum Step: Sendable, Hashable {
    /// So many octets.
    case moved(Int)
    /// Nothing for now.
    case later
    /// The other end has gone.
    case ended
  }

  func close() { _ = endpointClose(descriptor) }

  // MARK: Listening

  /// Listens on an address; port 0 is one that is free.
  static func listen(on address: IPAddress, port: UInt16) throws(DirectDNSError) -> (socket: Self, port: UInt16) {
    let family = address.family == .ipv6 ? AF_INET6 : AF_INET
    let socket = EndpointSocket(descriptor: endpointSocket(family))
    guard socket.descriptor >= 0 else { throw failure(address, port) }
    var bound = sockaddr_storage()
    let size = fill(&bound, address, port)
    let isListening = unsafe withUnsafeMutablePointer(to: &bound) { storage in
      unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        var length = size
        return unsafe bind(socket.descriptor, name, length) == 0 && endpointListen(socket.descriptor) == 0
          && getsockname(socket.descriptor, name, &length) == 0
      }
    }
    guard isListening, socket.prepare() else {
      let error = failure(address, port)
      socket.close()
      throw error
    }
    return (socket, chosenPort(bound))
  }

  private static func failure(_ address: IPAddress, _ port: UInt16) -> DirectDNSError {
    let code = errno
    let reason = unsafe String(cString: strerror(code))
    return DirectDNSError(
      .cannotListen,
      "The metrics endpoint cannot listen on \(address.bracketed):\(port): \(reason). \(advice(on: code))")
  }

  /// What helps where no descriptor is left.
  static let descriptorAdvice = "Raise the limit of open files (ulimit -n)."

  /// What helps against an error of socket(2), bind(2) or listen(2).
  static func advice(on code: Int32) -> String {
    switch code {
    case EADDRNOTAVAIL, EAFNOSUPPORT: "Choose an address that this machine has, such as 127.0.0.1."
    case EMFILE, ENFILE: descriptorAdvice
    default: "Choose another port."
    }
  }

  private static func fill(_ storage: inout sockaddr_storage, _ address: IPAddress, _ port: UInt16) -> socklen_t {
    unsafe withUnsafeMutablePointer(to: &storage) { storage in
      switch address.family {
      case .ipv4:
        unsafe storage.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { name in
          unsafe name.pointee.sin_family = sa_family_t(AF_INET)
          unsafe name.pointee.sin_port = port.bigEndian
          unsafe withUnsafeMutableBytes(of: &name.pointee.sin_addr) { unsafe $0.copyBytes(from: address.bytes) }
        }
        return socklen_t(MemoryLayout<sockaddr_in>.size)
      case .ipv6:
        unsafe storage.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { name in
          unsafe name.pointee.sin6_family = sa_family_t(AF_INET6)
          unsafe name.pointee.sin6_port = port.bigEndian
          unsafe withUnsafeMutableBytes(of: &name.pointee.sin6_addr) { unsafe $0.copyBytes(from: address.bytes) }
        }
        return socklen_t(MemoryLayout<sockaddr_in6>.size)
      }
    }
  }

  /// The port stands at the same place in both families' names.
  private static func chosenPort(_ storage: sockaddr_storage) -> UInt16 {
    unsafe withUnsafeBytes(of: storage) { bytes in
      unsafe UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
    }
  }

  /// What came of accepting.
  enum Acceptance: Sendable, Hashable {
    case connection(EndpointSocket)
    /// Nobody waits any more.
    case nothing
    /// The system has no descriptor or no memory to give, and would say so again at once.
    case refused
    /// Anything else, such as what a firewall or the network says about a client: it may come again at once, too.
    case failed
  }

  /// The next connection that waits, if there is one.
  func accept() -> Acceptance {
    let accepted = EndpointSocket(descriptor: directdns_accept(descriptor))
    guard accepted.descriptor >= 0 else { return Self.acceptance(errno) }
    guard accepted.prepare() else {
      accepted.close()
      return .nothing
    }
    return .connection(accepted)
  }

  /// What an error of accept(2) means; only those that say that the queue has changed may be followed by another try.
  static func acceptance(_ code: Int32) -> Acceptance {
    switch code {
    case EAGAIN, EWOULDBLOCK, EINTR, ECONNABORTED: .nothing
    case EMFILE, ENFILE, ENOBUFS, ENOMEM: .refused
    default: .failed
    }
  }

  /// What Darwin has no flags for; elsewhere a socket never is without, since another thread may start a program.
  private func prepare() -> Bool {
    #if canImport(Darwin)
      var on: Int32 = 1
      unsafe setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
      return fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 && fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0
    #else
      return true
    #endif
  }

  // MARK: Moving octets

  func read(into bytes: inout [UInt8]) -> Step {
    var code: Int32 = 0
    let part = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
      let moved = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
      count = max(0, moved)
      if moved < 0 { code = errno }
    }
    bytes += part
    return Self.step(part.count, code)
  }

  func write(_ bytes: ArraySlice<UInt8>) -> Step {
    #if canImport(Darwin)
      let flags: Int32 = 0
    #else
      let flags = Int32(MSG_NOSIGNAL)
    #endif
    var code: Int32 = 0
    let moved = unsafe bytes.withUnsafeBytes { buffer in
      let moved = unsafe send(descriptor, buffer.baseAddress, buffer.count, flags)
      if moved < 0 { code = errno }
      return moved
    }
    return Self.step(moved, code)
  }

  private static func step(_ moved: Int, _ code: Int32) -> Step {
    if moved > 0 { return .moved(moved) }
    return code == EAGAIN || code == EWOULDBLOCK || code == EINTR ? .later : .ended
  }

  /// Says that nothing more is written.
  func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

  // MARK: Waiting

  /// What a socket is waited for.
  struct Interest: Sendable, Hashable {
    var socket: EndpointSocket
    var isWriting: Bool
  }

  /// The sockets that can go on, within so many milliseconds.
  static func wait(for interests: [Interest], atMost milliseconds: Int32) -> Set<EndpointSocket> {
    var entries = interests.map { interest in
      pollfd(fd: interest.socket.descriptor, events: Int16(interest.isWriting ? POLLOUT : POLLIN), revents: 0)
    }
    let count = nfds_t(entries.count)
    let found = unsafe entries.withUnsafeMutableBufferPointer { unsafe poll($0.baseAddress, count, milliseconds) }
    // It has no memory, or knows fewer descriptors than there are: asking again at once would change nothing.
    if found < 0, errno != EINTR { _ = poll(nil, 0, 100) }
    guard found > 0 else { return [] }
    return Set(entries.filter { $0.revents != 0 }.map { EndpointSocket(descriptor: $0.fd) })
  }

  /// Two ends of a pipe: what is written to one ends the wait for the other.
  static func wakeUp() -> (reading: Self, writing: Self)? {
    var ends: [Int32] = [-1, -1]
    guard unsafe ends.withUnsafeMutableBufferPointer({ unsafe socketpair(AF_UNIX, stream, 0, $0.baseAddress) }) == 0
    else { return nil }
    let (reading, writing) = (EndpointSocket(descriptor: ends[0]), EndpointSocket(descriptor: ends[1]))
    guard reading.prepare(), writing.prepare() else {
      reading.close()
      writing.close()
      return nil
    }
    return (reading, writing)
  }
}

// The C calls whose names the methods above have too.

private func endpointClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

private func endpointListen(_ descriptor: Int32) -> Int32 { listen(descriptor, 128) }

/// A stream, without blocking and not inherited by other programs, as far as the system has flags for that.
#if canImport(Darwin)
  private let stream = SOCK_STREAM
#elseif canImport(Musl)
  private let stream = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK
#else
  private let stream = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
#endif

/// A stream socket that may take the address of one that has just ended.
private func endpointSocket(_ family: Int32) -> Int32 {
  let descriptor = socket(family, stream, 0)
  var on: Int32 = 1
  if descriptor >= 0 {
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
  }
  return descriptor
}
