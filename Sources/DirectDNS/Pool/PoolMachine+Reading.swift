// SPDX-License-Identifier: Apache-2.0
/// What its owner asks in order to carry out the machine's decisions.
extension PoolMachine {
  /// Whether no transfer is running or waiting.
  var isEmpty: Bool { transfers.count == 0 }

  /// The pool of a transfer; nil once the transfer has ended.
  func pool(of id: TransferID) -> SlabID<Pool>? { transfers.read(id) { $0.pool } }

  /// Where libcurl keeps a pool's connections: the connection cache, and the number by which it tells them from those of
  /// other pools; and whether they carry several requests each, as far as is known.
  func place(of pool: SlabID<Pool>) -> (cache: Int, scope: Int, isMultiplexed: Bool)? {
    pools.read(pool) { ($0.cache, $0.number, $0.load.multiplexing == .always) }
  }

  /// The sockets of the connections, established or not, that a transfer may be on.
  func sockets(of id: TransferID) -> [Int32] { pool(of: id).flatMap { pools.read($0) { $0.sockets } } ?? [] }

  /// Whether a connection is one of a pool's, and to that address.
  func leads(_ socket: Int32, into pool: SlabID<Pool>, to address: IPAddress?) -> Bool {
    guard let connection = connections[socket] else { return false }
    return connection.pool == pool && connection.address == address
  }

  /// Whether a pool's connections are known to carry one request at a time.
  func isSerial(_ pool: SlabID<Pool>) -> Bool { pools.read(pool) { $0.load.multiplexing == .never } ?? false }

  /// The sockets of a pool's connections if each carries several requests.
  func sharedSockets(of pool: SlabID<Pool>) -> [Int32] {
    pools.read(pool) { $0.load.multiplexing == .always ? $0.sockets : [] } ?? []
  }

  /// How a transfer got its connection; nil before it has one, and once it has ended.
  func connection(of id: TransferID) -> TransferConnection? { transfers.read(id) { $0.state.connection } ?? nil }
}

/// How a transfer got the connection that carries it.
struct TransferConnection: Sendable, Hashable {
  /// The address of the connection; nil through a proxy.
  let address: IPAddress?
  /// Whether the connection was there before.
  let isReused: Bool
  /// When it got the connection, by its owner's clock.
  let since: Int64
  let slower: [SlowerAddress]
  /// Addresses that failed before this one.
  let failedAddresses: [FailedAddress]
  /// Whether libcurl has sent the request more than once, so that it may have reached the server before.
  let wasRetried: Bool
}

extension TransferState {
  fileprivate var connection: TransferConnection? {
    guard let carrier else { return nil }
    return TransferConnection(
      address: carrier.address, isReused: attempts[carrier.attempt]?.socket == nil, since: carrier.since,
      slower: attempts.slower, failedAddresses: attempts.failed, wasRetried: hasRetried)
  }
}
