// SPDX-License-Identifier: Apache-2.0
/// A proxy's limits of numbers, sizes and times.
///
/// A time is more than 0 and at most 30 days; ``poolTimeout`` and ``drainTimeout`` may be 0. A count is 1 at least, and
/// ``headSize`` 1024 bytes; ``pooledConnections`` may be 0. A proxy refuses anything else.
public struct ProxyLimits: Sendable, Hashable {
  /// The most connections from clients at a time, tunnels included; 10 000 by default.
  ///
  /// Another one is refused with 503, and closed at once.
  public var clients: Int
  /// The most tunnels at a time, by CONNECT, by SOCKS and by `Upgrade`, counted from the request on; as many as
  /// ``clients`` by default.
  ///
  /// Another one is refused with 503, after which its client may send other requests, or with SOCKS's error code. With
  /// fewer than ``clients`` there is room left for plain requests and health checks, however many tunnels are silent.
  public var tunnels: Int?
  /// The most bytes of a request's or a response's head; 64 KiB by default.
  public var headSize: Int
  /// The most fields of a head; 500 by default.
  public var fieldCount: Int
  /// How long a client may take to send a head, from its first byte; 15 s by default.
  public var headTimeout: Duration
  /// How long a client's connection may be idle between two requests, once it has taken the response; 75 s by default.
  public var idleTimeout: Duration
  /// How long connecting may take, over all addresses of a name; 5 s by default.
  public var connectTimeout: Duration
  /// How long an origin may be silent while a response is awaited or on its way; 5 min by default.
  public var responseTimeout: Duration
  /// How long a tunnel may be silent in both directions, and how long a client may take nothing of a response that waits
  /// for it; 1 h by default.
  ///
  /// A side that takes what was sent to it is not silent, however slowly it does so.
  public var tunnelTimeout: Duration
  /// How long a connection may be silent once one side has stopped sending; 5 min by default.
  ///
  /// It applies to tunnels in place of a longer ``tunnelTimeout``, and to responses, once the client has stopped
  /// sending, in place of a longer ``responseTimeout``.
  public var halfClosedTimeout: Duration
  /// How long a connection to an origin is kept for the next request; 15 s by default.
  ///
  /// Most servers keep their end open at least as long, so that few requests go to a connection that was just closed.
  public var poolTimeout: Duration
  /// The most idle connections to one origin that each thread keeps; 32 by default.
  ///
  /// To all origins together it keeps 128 at most, and none when no file is left for another connection.
  public var pooledConnections: Int
  /// How long stopping waits for requests and tunnels in progress; 8 s by default.
  ///
  /// That is less than the 10 s after which Docker kills what it stops.
  public var drainTimeout: Duration

  /// Creates limits; every one has a default.
  public init(
    clients: Int = 10_000, tunnels: Int? = nil, headSize: Int = 65_536, fieldCount: Int = 500,
    headTimeout: Duration = .seconds(15), idleTimeout: Duration = .seconds(75),
    connectTimeout: Duration = .seconds(5), responseTimeout: Duration = .seconds(300),
    tunnelTimeout: Duration = .seconds(3600), halfClosedTimeout: Duration = .seconds(300),
    poolTimeout: Duration = .seconds(15), pooledConnections: Int = 32, drainTimeout: Duration = .seconds(8)
  ) {
    self.clients = clients
    self.tunnels = tunnels
    self.headSize = headSize
    self.fieldCount = fieldCount
    self.headTimeout = headTimeout
    self.idleTimeout = idleTimeout
    self.connectTimeout = connectTimeout
    self.responseTimeout = responseTimeout
    self.tunnelTimeout = tunnelTimeout
    self.halfClosedTimeout = halfClosedTimeout
    self.poolTimeout = poolTimeout
    self.pooledConnections = pooledConnections
    self.drainTimeout = drainTimeout
  }
}
