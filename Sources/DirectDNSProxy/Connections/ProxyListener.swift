// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore
internal import NIOPosix

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// What a proxy is to listen at.
enum ProxyListener: Sendable, CustomStringConvertible {
  /// A socket that listens already, by its descriptor.
  case inherited(Int32)
  /// The same again, by another descriptor of it (`Opened.spare`), which stays the caller's.
  case spare(Int32, of: ListenAddress)
  case address(ListenAddress)
  /// A Unix socket that was closed while its file stayed: who may connect stays, too.
  case lostFile(path: String, UnixSocketFile.Access)

  /// All of a configuration.
  static func all(of configuration: ProxyConfiguration) -> [ProxyListener] {
    configuration.inherited.map(ProxyListener.inherited) + configuration.listeners.map(ProxyListener.address)
  }

  /// One that listens.
  struct Opened: Sendable {
    let channel: any Channel
    /// Where it listens, with the port that was chosen for 0.
    let place: ListenAddress
    /// The file of a Unix socket that was made for it.
    var file: UnixSocketFile?
    /// Who may connect by that file, once SwiftNIO has closed the socket.
    var access: UnixSocketFile.Access?
    /// A second descriptor of a socket that was handed over: SwiftNIO closes the first when it closes the listener.
    var spare: Int32?

    /// What listens at the same place once SwiftNIO has closed it.
    var successor: ProxyListener {
      if let spare { return .spare(spare, of: place) }
      if case .unix(let path) = place, let access { return .lostFile(path: path, access) }
      return .address(place)
    }

    func closeSpare() {
      if let spare { close(spare) }
    }
  }

  /// How messages name it.
  var description: String {
    switch self {
    case .inherited(let descriptor): "the socket with descriptor \(descriptor)"
    case .address(let place), .spare(_, of: let place): place.description
    case .lostFile(let path, _): ListenAddress.unix(path: path).description
    }
  }

  /// Begins to listen.
  ///
  /// - Parameter bootstrap: serves those who connect.
  /// - Returns: what listens, which is the caller's to close.
  /// - Throws: an error of code `cannotListen` that names this listener and the reason.
  func opened(by bootstrap: ServerBootstrap) async throws(DirectDNSError) -> Opened {
    do {
      switch self {
      case .inherited(let descriptor): return try await Self.take(descriptor, bootstrap)
      case .spare(let spare, of: _):
        // Before there is a duplicate, which nobody would close: others may have ended the listening (shutdown(2)).
        try Self.checkListens(spare)
        return try await Self.take(duplicate(of: spare), bootstrap)
      case .address(.tcp(let address, let port)): return try await Self.listen(at: address, port, bootstrap)
      case .address(.unix(let path)): return try await Self.listen(at: path, bootstrap)
      case .lostFile(let path, let access): return try await Self.listen(at: path, for: access, bootstrap)
      }
    } catch let error as DirectDNSError {
      throw error
    } catch {
      throw DirectDNSError(
        .cannotListen, "\(self): the proxy cannot listen there: \(reason(error)).", underlying: error)
    }
  }

  private static func take(_ descriptor: Int32, _ bootstrap: ServerBootstrap) async throws -> Opened {
    // None was left for it (`spare`).
    guard descriptor >= 0 else { throw IOError(errnoCode: EMFILE, reason: "fcntl") }
    try checkListens(descriptor)
    let spare = duplicate(of: descriptor)
    do {
      let channel = try await bootstrap.withBoundSocket(descriptor).get()
      guard let place = ListenAddress(channel.localAddress) else {
        try? await channel.close()
        throw IOError(errnoCode: ENOTSOCK, reason: "")
      }
      return Opened(channel: channel, place: place, spare: spare < 0 ? nil : spare)
    } catch {
      if spare >= 0 { close(spare) }
      throw error
    }
  }

  private static func listen(at address: IPAddress, _ port: UInt16, _ bootstrap: ServerBootstrap) async throws -> Opened
  {
    let target = try SocketAddress(packedIPAddress: ByteBuffer(bytes: address.bytes), port: Int(port))
    let channel = try await bootstrap.serverChannelOption(.socketOption(.so_reuseaddr), value: 1).bind(to: target).get()
    let chosen = channel.localAddress?.port.map { UInt16($0) } ?? port
    guard chosen != 0 else {
      try? await channel.close()
      throw DirectDNSError(
        .cannotListen,
        "\(ListenAddress.tcp(address, port: port)): the proxy cannot listen there: the system does not say which port it has chosen: try again, or name a port."
      )
    }
    return Opened(channel: channel, place: .tcp(address, port: chosen))
  }

  private static func listen(
    at path: String, for access: UnixSocketFile.Access? = nil, _ bootstrap: ServerBootstrap
  ) async throws -> Opened {
    let (socket, file) = try UnixSocketFile.listen(at: path, for: access)
    do {
      return Opened(channel: try await bootstrap.withBoundSocket(socket).get(), place: .unix(path: path), file: file)
    } catch {
      file.remove()
      throw error
    }
  }

  /// Checks that a descriptor is a socket that listens (socket(7)).
  ///
  /// Before SwiftNIO gets it, which never releases a descriptor that it cannot register, nor the event loop.
  private static func checkListens(_ descriptor: Int32) throws(IOError) {
    var listens: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    let status = unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size)
    guard status == 0 else { throw IOError(errnoCode: errno, reason: "getsockopt") }
    guard listens != 0 else { throw IOError(errnoCode: EINVAL, reason: "getsockopt") }
  }

  /// Why it cannot listen, in words.
  func reason(_ error: any Error) -> String {
    guard let error = error as? IOError else { return "\(error)" }
    let isUnix =
      switch self {
      case .address(.unix), .lostFile: true
      case .address(.tcp), .inherited, .spare: false
      }
    return switch error.errnoCode {
    case EADDRINUSE: "another program listens there: choose another \(isUnix ? "path" : "port")"
    case EADDRNOTAVAIL: "this machine has no such address"
    case EACCES: "that is not allowed: choose \(isUnix ? "another folder" : "a port from 1024")"
    case ENOENT: "there is no such folder"
    case ENOTSOCK, EBADF, EINVAL, EOPNOTSUPP:
      "it is not a stream socket that listens: a socket unit wants ListenStream= with an address or a path, and Accept=no"
    default: error.description
    }
  }
}

/// Another descriptor of the same socket, which is closed in child processes; -1 if there is none to be had.
private func duplicate(of descriptor: Int32) -> Int32 { fcntl(descriptor, F_DUPFD_CLOEXEC, 3) }
