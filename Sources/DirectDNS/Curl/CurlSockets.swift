// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl
internal import CDirectDNSLoop

/// The sockets of a loop's connections, from when libcurl opens them until it closes them.
@safe final class CurlSockets {
  private(set) var open: Set<curl_socket_t> = []
  /// The handles whose transfers opened sockets, as long as those are not known to be connected.
  private var openers: [curl_socket_t: ObjectIdentifier] = [:]
  /// The local ports of established connections, each of which several may have that lead to different servers.
  private var ports: [curl_socket_t: CInt] = [:]
  private var socketsOfPort: [CInt: [curl_socket_t]] = [:]
  private let poller: Poller?
  /// How many milliseconds sent bytes may stay unacknowledged before the kernel ends the connection: of the sockets that
  /// are opened from then on.
  var silenceLimit: UInt32
  /// Called with a socket before it is closed.
  var closing: ((curl_socket_t) -> Void)?

  init(silenceLimit: UInt32 = 3_000, poller: Poller? = nil) {
    self.silenceLimit = silenceLimit
    self.poller = poller
  }

  /// Makes a handle report the end of the sockets that its transfers open.
  ///
  /// A connection outlives the handle that opened it, so this object must be kept by whoever ends the connections:
  /// ``CurlMulti``, and ``CurlHandle`` for a handle outside a loop.
  func watch(_ handle: CurlHandle) {
    unsafe directdns_setopt_closing(handle.pointer, Unmanaged.passUnretained(self).toOpaque()) { context, socket in
      unsafe context.object(CurlSockets.self)?.closes(socket)
      return directdns_close(socket)
    }
  }

  /// Makes the kernel hold back what is written to sockets, or send it; after 200 ms it is sent anyway.
  ///
  /// libcurl writes each request with a call of its own, and the body of a POST with another one, and each would become
  /// a TCP segment. Corked, requests that start together on one connection leave in one segment: that saves 3 µs for
  /// each GET and 10 µs for each POST, and wakes the server only once.
  static func setCorked(_ isCorked: Bool, _ sockets: [curl_socket_t]) {
    for socket in sockets { directdns_cork(socket, isCorked ? 1 : 0) }
  }

  /// Where the connection of a socket leads; nil before it is established, and once libcurl has closed it.
  func peer(of socket: curl_socket_t) -> (address: IPAddress, port: UInt16)? {
    guard open.contains(socket) else { return nil }
    var port: UInt16 = 0
    let address = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { room -> IPAddress? in
      guard let base = room.baseAddress else { return nil }
      let count = unsafe Int(directdns_peer(socket, base, &port))
      return unsafe IPAddress(bytes: UnsafeBufferPointer(start: base, count: count))
    }
    return address.map { ($0, port) }
  }

  /// The socket of a route's connection with that local port, which is established: one to another server may have that
  /// port, too.
  func socket(port: CInt, of route: QueryRoute) -> curl_socket_t? {
    open.first { socket in
      guard directdns_local_port(socket) == Int(port), let peer = peer(of: socket) else { return false }
      return peer.port == route.origin.port && (route.addresses.isEmpty || route.addresses.contains(peer.address))
    }
  }

  /// A handle's transfer is about to connect a socket.
  func opened(_ socket: curl_socket_t, by handle: CurlHandle) {
    // libcurl has closed the one that had this number before; see ``CurlVersion/closesUntold``.
    if open.contains(socket) { closes(socket) }
    directdns_prepare_socket(socket, silenceLimit)
    open.insert(socket)
    openers[socket] = ObjectIdentifier(handle)
    handle.opening.append(socket)
    poller?.opened(socket)
  }

  /// A handle's transfer has a connection, with that local port: one that it has opened, or a kept one.
  ///
  /// - Returns: the socket if it has opened it.
  @discardableResult
  func established(port: CInt, for handle: CurlHandle) -> curl_socket_t? {
    let place = handle.opening.firstIndex { socket in
      openers[socket] == ObjectIdentifier(handle) && directdns_local_port(socket) == Int(port)
    }
    guard let place else { return nil }
    let socket = handle.opening.remove(at: place)
    openers[socket] = nil
    ports[socket] = port
    socketsOfPort[port, default: []].append(socket)
    // Of a proxy's addresses libcurl dials several at once, and keeps the first that is connected.
    ended(handle)
    return socket
  }

  /// A handle's transfer connects no more: libcurl has closed what it was connecting, and may not have said so.
  func ended(_ handle: CurlHandle) {
    guard !handle.opening.isEmpty else { return }
    for socket in exchange(&handle.opening, with: []) where openers[socket] == ObjectIdentifier(handle) {
      openers[socket] = nil
      if CurlVersion.closesUntold { closes(socket) }
    }
  }

  /// Whether a connection with that local port has brought what nobody has read, or has ended.
  ///
  /// libcurl 7.88 takes a connection that it keeps, and that has brought something, for an open one. Since 8.22 it looks
  /// at one once a second at most.
  ///
  /// - Parameters:
  ///   - port: the port.
  ///   - isMeant: which of the connections with that port are looked at.
  /// - Returns: whether there is one.
  func hasUnread(port: CInt, where isMeant: (curl_socket_t) -> Bool) -> Bool {
    socketsOfPort[port]?.contains { isMeant($0) && directdns_peek($0) >= 0 } ?? false
  }

  private func closes(_ socket: curl_socket_t) {
    open.remove(socket)
    openers[socket] = nil
    if let port = ports.removeValue(forKey: socket) {
      let others = socketsOfPort[port]?.filter { $0 != socket } ?? []
      socketsOfPort[port] = others.isEmpty ? nil : others
    }
    poller?.closed(socket)
    closing?(socket)
  }
}
