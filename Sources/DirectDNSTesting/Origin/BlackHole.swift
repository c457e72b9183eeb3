// SPDX-License-Identifier: Apache-2.0
public import DirectDNS
import NIOCore
import NIOPosix

/// A port on loopback that drops packets: a client that connects to it gets no answer at all, as from a dead machine.
///
/// ```swift
/// @Test(.enabled(if: BlackHole.missing == nil, "no black hole here")) func `the next address is tried`() async throws {
///   let hole = try await BlackHole.start()
///   // … connect to hole.address, hole.port: neither refused nor accepted …
///   await hole.stop()
/// }
/// ```
///
/// Linux drops connection requests (SYN) while a listener's backlog is full. This one's has room for one connection,
/// which it makes itself and never accepts. It needs no privileges, and no packet leaves the machine. After ``stop()``
/// the port refuses connections.
public final class BlackHole: Sendable {
  /// Why a black hole could not be made.
  public struct Failure: Error, CustomStringConvertible {
    /// The reason.
    public let description: String
  }

  /// Why this machine cannot have black holes; nil if it can.
  public static let missing: String? = {
    guard table(.ipv4) != nil else { return "black holes need Linux's /proc/net/tcp" }
    return nil
  }()

  /// The address.
  public let address: IPAddress
  /// The port.
  public let port: Int

  private let listener: any Channel
  private let plug: any Channel

  private init(address: IPAddress, port: Int, listener: any Channel, plug: any Channel) {
    self.address = address
    self.port = port
    self.listener = listener
    self.plug = plug
  }

  deinit {
    listener.close(promise: nil)
    plug.close(promise: nil)
  }

  /// Makes a black hole.
  ///
  /// - Parameters:
  ///   - address: an address of loopback.
  ///   - port: the port; 0, the default, means any free one.
  /// - Returns: the black hole, which drops packets already.
  /// - Throws: ``Failure``, or the socket's error.
  public static func start(address: IPAddress = .loopback(), port: Int = 0) async throws -> BlackHole {
    if let missing { throw Failure(description: missing) }
    let group = MultiThreadedEventLoopGroup.singleton
    let listener = try await ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 0)
      .serverChannelOption(.autoRead, value: false)
      .bind(host: address.description, port: port).get()
    let port = listener.localAddress?.port ?? port
    let plug = try await ClientBootstrap(group: group).connect(host: address.description, port: port).get()
    let hole = BlackHole(address: address, port: port, listener: listener, plug: plug)
    // The client's connection is established a moment before the listener's, and a busy kernel may delay loopback
    // packets.
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end {
      if hole.isFull { return hole }
      try await Task.sleep(for: .milliseconds(1))
    }
    throw Failure(description: "the queue of \(address):\(port) does not fill up")
  }

  /// Stops it: from now on the port refuses connections.
  public func stop() async {
    try? await listener.close().get()
    try? await plug.close().get()
  }

  /// Whether a connection waits to be accepted; for a listener the kernel shows the number of these as `rx_queue`
  /// (proc(5)).
  private var isFull: Bool {
    let digits = String(port, radix: 16, uppercase: true)
    let suffix = ":" + String(repeating: "0", count: 4 - digits.count) + digits
    return Self.table(address.family)?.split(separator: "\n").contains { line in
      let columns = line.split(separator: " ")
      return columns.count > 4 && columns[1].hasSuffix(suffix) && columns[3] == "0A"
        && columns[4].hasSuffix(":00000001")
    } ?? false
  }

  private static func table(_ family: IPAddress.Family) -> String? {
    // In pieces: Foundation takes the first piece of such a file for the whole.
    guard let file = try? ReadableFile(family == .ipv6 ? "/proc/net/tcp6" : "/proc/net/tcp") else { return nil }
    var bytes: [UInt8] = []
    while let piece = try? file.read(65_536), !piece.isEmpty { bytes += piece }
    return String(decoding: bytes, as: UTF8.self)
  }
}
