// SPDX-License-Identifier: Apache-2.0
/// The connections that libcurl keeps, by their sockets, and in which of its connection caches each one is.
///
/// A pure value. At the end of each transfer libcurl looks through all connections of one cache (close_connect_only in
/// its multi.c): with 5 000 connections to a slow server in the same cache, a request to another one would take 50 µs
/// longer. So there are several caches, and each pool is assigned to one.
struct ConnectionTable<Pool: Hashable> {
  struct Connection {
    let pool: Pool
    let address: IPAddress?
    /// The number of the connection cache.
    let cache: Int
    /// Whether it is established; false while it is being opened.
    fileprivate(set) var isEstablished = false
  }

  private var connections: [Int32: Connection] = [:]
  /// How many connections each cache has.
  private(set) var cacheSizes = [0]

  var count: Int { connections.count }

  /// The connection of a socket; nil for one that is closed.
  subscript(socket: Int32) -> Connection? { connections[socket] }

  /// Chooses the cache for a new pool: the one with the fewest connections, or a new one if that has many.
  mutating func assignCache(_ limits: PoolLimits) -> Int {
    let least = cacheSizes.indices.reduce(0) { cacheSizes[$1] < cacheSizes[$0] ? $1 : $0 }
    guard cacheSizes[least] > PoolLimits.cacheSize,
      cacheSizes.count < min(PoolLimits.caches, limits.connections / PoolLimits.cacheSize / 2)
    else { return least }
    cacheSizes.append(0)
    return cacheSizes.count - 1
  }

  mutating func opened(_ socket: Int32, of pool: Pool, to address: IPAddress?, in cache: Int) {
    connections[socket] = Connection(pool: pool, address: address, cache: cache)
    cacheSizes[cache] += 1
  }

  /// A connection is established.
  ///
  /// - Returns: whether that was not known before.
  mutating func established(_ socket: Int32) -> Bool {
    guard connections[socket]?.isEstablished == false else { return false }
    connections[socket]?.isEstablished = true
    return true
  }

  /// A socket is closed.
  ///
  /// - Returns: its connection; nil if that was closed before.
  mutating func closed(_ socket: Int32) -> Connection? {
    guard let connection = connections.removeValue(forKey: socket) else { return nil }
    cacheSizes[connection.cache] -= 1
    return connection
  }

  /// The sockets of the established connections that meet a condition, in no particular order.
  func established(where holds: (Connection) -> Bool) -> [Int32] {
    connections.compactMap { $0.value.isEstablished && holds($0.value) ? $0.key : nil }
  }

  /// The pools that have connections to an address.
  func pools(connectedTo address: IPAddress) -> Set<Pool> {
    Set(connections.values.lazy.filter { $0.address == address }.map(\.pool))
  }
}
