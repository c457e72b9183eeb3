// SPDX-License-Identifier: Apache-2.0
/// How many requests the connections of one origin carry, and whether they can carry another one.
///
/// A pure value. HTTP/1.1 carries one request per connection, HTTP/2 many. As long as it is not known which of them a
/// server speaks, one request goes ahead and the others wait for its connection, so that a burst needs one handshake
/// only.
struct PoolLoad {
  /// Whether the origin's connections carry several requests at once, as far as that is known.
  enum Multiplexing: Hashable { case never, unknown, always }

  /// Whether one more request may start.
  enum Admission: Hashable {
    /// On a connection that is established already.
    case reuse
    /// On a connection of its own.
    case open
    /// Not before another request to this origin has ended, or has got its connection.
    case poolIsFull
    /// Not before any origin has a connection to spare: the limit of all connections is reached.
    case allInUse
  }

  /// The connections to one address, and the requests on them; nil through a proxy.
  private struct AddressLoad {
    let address: IPAddress?
    var established = 0
    var running = 0
    /// Whether the latest news is that it cannot be connected to.
    var isDead = false
  }

  /// An array, since there are so few that a search is faster than a dictionary.
  private var loads: [AddressLoad] = []
  private(set) var multiplexing: Multiplexing
  /// Requests under way, including those without a connection yet.
  private(set) var running = 0
  /// Requests that have a connection.
  private var carried = 0
  private(set) var established = 0
  /// Requests that are opening a connection which later ones will share.
  private(set) var opening = 0
  /// How many requests one connection takes.
  private var streamLimit: Int
  /// The configured ``streamLimit``, until a server shows that it takes fewer.
  private let mostStreams: Int
  private let connectionLimit: Int

  init(multiplexing: Multiplexing, connectionLimit: Int, streamLimit: Int) {
    self.multiplexing = multiplexing
    self.connectionLimit = connectionLimit
    self.streamLimit = streamLimit
    mostStreams = streamLimit
  }

  /// How many connections count towards the limit of all; idle ones do not, since they can be closed.
  var weight: Int {
    if multiplexing == .never || running == 0 { return running }
    return max(1, established + opening)
  }

  var isEmpty: Bool { running == 0 && established == 0 }

  /// Whether requests are under way to an address.
  func isBusy(_ address: IPAddress?) -> Bool { load(of: address).map { $0.running > 0 } ?? false }

  /// Whether there are more requests to an address than connections to it.
  func isShared(_ address: IPAddress?) -> Bool { load(of: address).map { $0.running > $0.established } ?? false }

  /// Whether one more request may start.
  ///
  /// - Parameter free: how many further connections the limit of all allows.
  /// - Returns: how it may start, or what it has to wait for.
  func admission(free: Int) -> Admission {
    switch multiplexing {
    case .never:
      guard running < connectionLimit else { return .poolIsFull }
      guard free > 0 else { return .allInUse }
      return running < established ? .reuse : .open
    case .unknown where established > 0:
      // One more request shows whether the connection multiplexes: it shares it, or has to open one of its own.
      return running - opening < 2 ? .reuse : .poolIsFull
    case .unknown, .always:
      if running - opening < established * streamLimit { return .reuse }
      guard opening == 0, established < connectionLimit else { return .poolIsFull }
      return free > 0 ? .open : .allInUse
    }
  }

  /// The addresses, with one moved to the front that has a connection with room for another request, if there is one.
  ///
  /// Otherwise the rotation of equally good addresses would cost a handshake for each request. An address that died in
  /// the meantime is not moved.
  func ordered(_ addresses: [IPAddress]) -> [IPAddress] {
    let room = multiplexing == .never ? 1 : streamLimit
    guard established > 0,
      let index = addresses.firstIndex(where: { address in
        load(of: address).map { !$0.isDead && $0.running < $0.established * room } ?? false
      }), index > 0
    else { return addresses }
    var ordered = addresses
    ordered.insert(ordered.remove(at: index), at: 0)
    return ordered
  }

  // MARK: Events

  /// A request was started, towards that address at first.
  mutating func started(_ address: IPAddress?, opens: Bool) {
    running += 1
    if opens { opening += 1 }
    change(address) { $0.running += 1 }
  }

  /// A request got its connection, to the address that it was started towards or to another one.
  mutating func connected(_ address: IPAddress?, insteadOf first: IPAddress?, opened: Bool) {
    carried += 1
    if opened { opening -= 1 }
    guard address != first else { return }
    change(first) { $0.running -= 1 }
    change(address) { $0.running += 1 }
  }

  /// A request has ended, with or without having got a connection.
  mutating func ended(_ address: IPAddress?, wasOpening: Bool, wasConnected: Bool) {
    running -= 1
    if wasConnected { carried -= 1 }
    if wasOpening { opening -= 1 }
    change(address) { $0.running -= 1 }
  }

  /// A new connection is established.
  mutating func established(_ address: IPAddress?) {
    established += 1
    change(address) {
      $0.established += 1
      $0.isDead = false
    }
  }

  /// An established connection has been closed.
  ///
  /// The stream limit is reset: this connection may have been the one that took fewer requests.
  mutating func closed(_ address: IPAddress?) {
    established -= 1
    streamLimit = mostStreams
    change(address) { $0.established -= 1 }
  }

  /// An address cannot be connected to any more, although requests are under way on older connections to it.
  ///
  /// That does not matter for connections that multiplex: they go on.
  mutating func died(_ address: IPAddress) {
    if multiplexing != .always, isBusy(address) { change(address) { $0.isDead = true } }
  }

  /// It has become known whether connections multiplex: by a response, or by a request that joined a connection in use.
  mutating func learned(isMultiplexed: Bool) {
    multiplexing = isMultiplexed ? .always : .never
  }

  /// A request could not share a connection as planned: the server speaks HTTP/1.1, or takes fewer requests per
  /// connection than was assumed.
  mutating func overflowed() {
    switch multiplexing {
    case .never: break
    case .unknown: multiplexing = .never
    // Only if connections carry requests: one that is idle and was not used is to another address, or dead.
    case .always: if established > 0, carried > 0 { streamLimit = max(1, min(streamLimit, carried / established)) }
    }
  }

  private func load(of address: IPAddress?) -> AddressLoad? { loads.first { $0.address == address } }

  private mutating func change(_ address: IPAddress?, _ body: (inout AddressLoad) -> Void) {
    guard let place = loads.firstIndex(where: { $0.address == address }) else {
      var load = AddressLoad(address: address)
      body(&load)
      return loads.append(load)
    }
    body(&loads[place])
    if loads[place].established == 0, loads[place].running == 0 { loads.remove(at: place) }
  }
}
