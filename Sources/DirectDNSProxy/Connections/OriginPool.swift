// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// Connections to origins that wait for the next request.
final class OriginPool {
  /// A connection is given up at that age, so that a name that moved is followed.
  private static let maximumAge = TimeAmount.minutes(10)

  /// How long a connection may have stood for a request that cannot be sent once more, should the server have closed it
  /// meanwhile: no server is known to close one sooner.
  ///
  /// One that is a client's alone may have stood for any time. On another the request would be nobody's, and the client has
  /// to log in again, which some cannot in front of a body that they have sent. That the server closes it just then, it would
  /// meet with as well without a proxy, on a connection of its own.
  private static let safeAge = TimeAmount.seconds(1)

  private let eventLoop: any EventLoop
  private var idle: [ForwardOrigin: [OriginHandler]] = [:]

  init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  /// Takes a connection that goes this way; the one that was used last.
  ///
  /// - Parameters:
  ///   - origin: where it is to.
  ///   - way: where it may lead.
  ///   - hop: whom it is to, and what it carries.
  ///   - canRetry: whether the request can be sent once more on another one.
  ///   - now: the time.
  /// - Returns: the connection; nil where none will do.
  func take(
    _ origin: ForwardOrigin, _ way: Way, _ hop: Way.Hop, canRetry: Bool, at now: NIODeadline = .now()
  ) -> OriginHandler? {
    guard var waiting = idle[origin] else { return nil }
    defer { idle[origin] = waiting.isEmpty ? nil : waiting }
    // Those before it have waited for longer.
    while let handler = waiting.last,
      canRetry || handler.isOneClients || now - handler.idleSince < Self.safeAge
    {
      waiting.removeLast()
      guard handler.isUsable, handler.hop == hop, way.addresses.isEmpty || way.addresses.contains(handler.address)
      else {
        handler.close()
        continue
      }
      return handler
    }
    return nil
  }

  /// Keeps a connection for the next request.
  ///
  /// One that is a client's alone is kept as long as the client's own, and grows as old: who has logged in stays so, as without
  /// a proxy. Whether it may still be used, its address says when it is taken.
  func put(_ handler: OriginHandler, for origin: ForwardOrigin, _ limits: ProxyLimits, at now: NIODeadline = .now()) {
    guard limits.poolTimeout > .zero, limits.pooledConnections > 0,
      handler.isOneClients || now - handler.connected < Self.maximumAge
    else { return handler.close() }
    let time = handler.isOneClients ? max(limits.poolTimeout, limits.idleTimeout) : limits.poolTimeout
    handler.wait(in: self, as: origin, since: now, for: TimeAmount(time))
    var waiting = idle[origin] ?? []
    waiting.append(handler)
    if waiting.count > limits.pooledConnections { waiting.removeFirst().close() }
    idle[origin] = waiting
  }

  /// A connection has ended while it waited.
  func remove(_ handler: OriginHandler, of origin: ForwardOrigin) {
    guard var waiting = idle[origin] else { return }
    waiting.removeAll { $0 === handler }
    idle[origin] = waiting.isEmpty ? nil : waiting
  }

  func closeIdle(at now: NIODeadline) {
    for handler in idle.values.joined() where handler.idleEnd <= now { handler.close() }
  }

  /// An address has been found dead: what waits for requests there would only lose one.
  func close(to address: IPAddress) {
    for handler in idle.values.joined() where handler.address == address { handler.close() }
  }

  func closeAll() { for handler in idle.values.joined() { handler.close() } }
}
