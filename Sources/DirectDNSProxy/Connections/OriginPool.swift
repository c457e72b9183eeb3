// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// Connections to origins that wait for the next request.
final class OriginPool {
  /// A connection is not kept beyond this age, so that changed addresses of a name take effect.
  private static let maximumAge = TimeAmount.minutes(10)

  /// Which idle connections a request may use: the origin may be closing any of them, and then the request is lost
  /// unless it can be sent again.
  ///
  /// No client loses a request that it would not lose without a proxy too. A connection of its own serves any of its
  /// requests, however long it was idle: on another one the client would have to log in again, which some cannot once
  /// they have sent a body.
  enum Reuse {
    /// Any: the request can be sent once more.
    case any
    /// Those that were idle for a short time. The client's last request was for this origin as well, so that without a
    /// proxy it would use its own connection again.
    case recent
    /// Only the client's own: without a proxy it would open a new connection.
    case own
  }

  /// How long a recent connection was idle at most: few servers close one sooner, and a client that is logging in
  /// answers sooner.
  static let recentAge = TimeAmount.seconds(1)

  /// The most connections that wait, to whatever origins: each holds a file, of which a process often has 1024.
  static let limit = 128

  private var idle: [ForwardOrigin: [OriginHandler]] = [:]

  /// Takes the matching connection that was used last.
  ///
  /// - Parameters:
  ///   - origin: the origin of the request.
  ///   - route: the allowed addresses.
  ///   - hop: what it has to be connected to, and to carry.
  ///   - reuse: which idle connections may be used.
  ///   - now: the time.
  /// - Returns: the connection; nil if none matches.
  func take(
    _ origin: ForwardOrigin, _ route: ChosenRoute, _ hop: ChosenRoute.Hop, _ reuse: Reuse, at now: NIODeadline = .now()
  ) -> OriginHandler? {
    guard var waiting = idle[origin] else { return nil }
    defer { idle[origin] = waiting.isEmpty ? nil : waiting }
    // Those before it were idle for longer.
    for index in waiting.indices.reversed() {
      let handler = waiting[index]
      guard handler.isConnectionAuthenticated || reuse.allows(age: now - handler.idleSince) else { break }
      // It may serve another request: an `Upgrade` has a tunnel of its own through a proxy that is sent whole URLs.
      guard handler.hop == hop else { continue }
      waiting.remove(at: index)
      guard handler.isUsable, route.addresses.isEmpty || route.addresses.contains(handler.address) else {
        handler.close()
        continue
      }
      return handler
    }
    return nil
  }

  /// Keeps a connection for the next request.
  ///
  /// A client's own connection is kept as long as the client's connection to the proxy may be idle, at any age: a
  /// client that has logged in stays logged in, as without a proxy. Its address is checked when it is taken.
  func put(_ handler: OriginHandler, for origin: ForwardOrigin, _ limits: ProxyLimits, at now: NIODeadline = .now()) {
    guard limits.poolTimeout > .zero, limits.pooledConnections > 0,
      handler.isConnectionAuthenticated || now - handler.connected < Self.maximumAge
    else { return handler.close() }
    let time = handler.isConnectionAuthenticated ? max(limits.poolTimeout, limits.idleTimeout) : limits.poolTimeout
    handler.wait(in: self, as: origin, since: now, for: TimeAmount(time))
    idle[origin, default: []].append(handler)
    if let waiting = idle[origin], waiting.count > limits.pooledConnections { waiting.first?.close() }
    // The first of an origin is the one of them that has waited longest.
    if count > Self.limit { idle.values.compactMap(\.first).min { $0.idleSince < $1.idleSince }?.close() }
  }

  /// An idle connection has ended.
  func remove(_ handler: OriginHandler, of origin: ForwardOrigin) {
    guard var waiting = idle[origin] else { return }
    waiting.removeAll { $0 === handler }
    idle[origin] = waiting.isEmpty ? nil : waiting
  }

  /// How many wait.
  var count: Int { idle.values.reduce(0) { $0 + $1.count } }

  func closeIdle(at now: NIODeadline) {
    for handler in idle.values.joined() where handler.idleEnd <= now { handler.close() }
  }

  /// An address is dead: its idle connections would only lose requests.
  func close(to address: IPAddress) {
    for handler in idle.values.joined() where handler.address == address { handler.close() }
  }

  @discardableResult
  func closeAll() -> Int { close(idleFor: .zero, at: .distantFuture) }

  /// Closes those that have been idle for a time.
  ///
  /// - Returns: how many.
  @discardableResult
  func close(idleFor time: TimeAmount, at now: NIODeadline) -> Int {
    let closing = idle.values.joined().filter { now - $0.idleSince >= time }
    for handler in closing { handler.close() }
    return closing.count
  }
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
