// SPDX-License-Identifier: Apache-2.0
public import DirectDNS
internal import NIOCore

/// Where a proxy listens.
public enum ListenAddress: Sendable, Hashable, CustomStringConvertible {
  /// An address of this machine and a port; 0 is any that is free.
  case tcp(IPAddress, port: UInt16)
  /// A Unix socket; the mode of its file, which comes of the umask, says who may connect.
  case unix(path: String)

  /// Reads `127.0.0.1:3128`, `[::1]:3128`, `localhost:3128` or `unix:PATH`.
  ///
  /// - Parameter text: the text.
  /// - Throws: an error of code `invalidConfiguration` that says what is wrong.
  public init(_ text: String) throws(DirectDNSError) {
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst(5))
      guard !path.isEmpty else {
        throw DirectDNSError(
          .invalidConfiguration, "\(text) names no path: write unix:PATH, such as unix:/run/proxy.sock.")
      }
      // The size of sun_path on Linux (sockaddr_un), with the NUL at its end.
      guard path.utf8.count < 108, !path.utf8.contains(0) else {
        throw DirectDNSError(
          .invalidConfiguration, "\(text): the path of a socket has at most 107 bytes, and no NUL: take another one.")
      }
      // systemd and socat write an abstract socket like this: it has no file, so no mode says who may use it.
      guard !path.hasPrefix("@") else {
        throw DirectDNSError(
          .invalidConfiguration,
          "\(text): a socket without a file has no mode that says who may use it: give a path, or write unix:./\(path) for a file of that name."
        )
      }
      self = .unix(path: path)
      return
    }
    let host = text.lastIndex(of: ":").map { (text[..<$0], text[text.index(after: $0)...]) }
    if let (_, digits) = host, !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), UInt16(digits) == nil {
      throw DirectDNSError(.invalidConfiguration, "\(text): \(digits) is not a port: the last one is 65535.")
    }
    guard let (name, digits) = host, let port = UInt16(port: digits) else {
      throw DirectDNSError(
        .invalidConfiguration, "\(text): write ADDRESS:PORT, such as 127.0.0.1:3128 or [::1]:3128, or unix:PATH.")
    }
    guard let address = name == "localhost" ? .loopback() : IPAddress.beforePort(name) else {
      throw DirectDNSError(
        .invalidConfiguration, "\(text): that is not an address: write 127.0.0.1:3128, or [::1]:3128 with brackets.")
    }
    self = .tcp(address, port: port)
  }

  /// Where a socket listens; nil if it is of a kind that the proxy does not use.
  init?(_ address: SocketAddress?) {
    switch address {
    case .unixDomainSocket?:
      // An abstract socket (unix(7)) has no file whose mode says who may use it: everybody on the machine may.
      guard let path = address?.pathname, !path.isEmpty else { return nil }
      self = .unix(path: path)
    case .v4?, .v6?:
      guard let ip = address?.ipAddressValue, let port = address?.port else { return nil }
      self = .tcp(ip, port: UInt16(port))
    case nil: return nil
    }
  }

  /// Whether other machines can reach it.
  public var isRemote: Bool { if case .tcp(let address, _) = self { !address.isLoopback } else { false } }

  /// The text form, such as `127.0.0.1:3128`.
  public var description: String {
    switch self {
    case .tcp(let address, let port): "\(address.bracketed):\(port)"
    case .unix(let path): "unix:\(path)"
    }
  }
}
