// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// Connections to origins that wait for the next request.
final class OriginPool {
  /// A connection is given up at that age, so that a name that moved is followed.
  private static let maximumAge = TimeAmount.minutes(10)

  /// Which of the connections a request may go on: the origin may be closing any of them, and the request is lost then
  /// unless it can be sent once more.
  ///
  /// No client loses one that it would not lose without a proxy too. A connection that is one client's alone does for any
  /// of its requests, however long it has waited: on another one the client would have to log in again, which some cannot
  /// once they have sent a body.
  enum Reuse {
    /// Any: the request can be sent once more.
    case any
    /// Those that have not waited for long. The client's last request was for this origin as well, so that without a proxy
    /// it would use its own connection again.
    case recent
    /// Only those that are the client's alone: without a proxy it would make a new connection.
    case own
  }

  /// How long a recent connection has waited at most: few servers close one sooner.
  fileprivate static let recentAge = TimeAmount.seconds(1)

  private let eventLoop: any EventLoop
  private var idle: [ForwardOrigin: [OriginHandler]] = [:]

  init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  /// Takes a connection that goes this way; the one that was used last.
  ///
  /// - Parameters:
  ///   - origin: where it is to.
  ///   - way: where it may lead.
  ///   - hop: whom it is to, and what it carries.
  ///   - reuse: which ones will do.
  ///   - now: the time.
  /// - Returns: the connection; nil where none will do.
  func take(
    _ origin: ForwardOrigin, _ way: Way, _ hop: Way.Hop, _ reuse: Reuse, at now: NIODeadline = .now()
  ) -> OriginHandler? {
    guard var waiting = idle[origin] else { return nil }
    defer { idle[origin] = waiting.isEmpty ? nil : waiting }
    // Those before it have waited for longer.
    while let handler = waiting.last, handler.isOneClients || reuse.allows(age: now - handler.idleSince) {
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

extension OriginPool.Reuse {
  fileprivate func allows(age: TimeAmount) -> Bool {
    switch self {
    case .any: true
    case .recent: age < OriginPool.recentAge
    case .own: false
    }
  }
}
