// SPDX-License-Identifier: Apache-2.0
/// What the connections of one origin carry, and whether they can carry one more request.
///
/// A pure value. HTTP/1.1 carries one request a connection; HTTP/2 carries many, so that a burst needs one handshake
/// and not one each: while nobody knows yet what a server speaks, one request goes ahead and the others wait for its
/// connection.
struct PoolLoad {
  /// Whether the origin's connections carry several requests at once.
  enum Multiplexing: Hashable { case never, unknown, always }

  /// Whether one more request may start.
  enum Admission: Hashable {
    /// On a connection that stands.
    case reuse
    /// On a connection of its own.
    case open
    /// Not before another request of this origin has ended, or has got its connection.
    case poolIsFull
    /// Not before a connection of any origin is free.
    case allAreTaken
  }

  /// The connections to one address, and the requests on them; nil through a proxy.
  private struct AddressLoad {
    let address: IPAddress?
    var established = 0
    var running = 0
    /// Whether the last that was heard of it is that it cannot be connected to.
    var isDead = false
  }

  /// Few, so that looking at each is faster than a dictionary.
  private var loads: [AddressLoad] = []
  private(set) var multiplexing: Multiplexing
  /// Requests under way, those included that have no connection yet.
  private(set) var running = 0
  /// Requests that have their connection.
  private var carried = 0
  /// Connections that stand.
  private(set) var established = 0
  /// Requests that are opening a connection for those to come.
  private(set) var opening = 0
  private var streamLimit: Int
  /// What that is until a server shows that it takes fewer.
  private let mostStreams: Int
  private let connectionLimit: Int

  init(multiplexing: Multiplexing, connectionLimit: Int, streamLimit: Int) {
    self.multiplexing = multiplexing
    self.connectionLimit = connectionLimit
    self.streamLimit = streamLimit
    mostStreams = streamLimit
  }

  /// How many of all connections it takes; idle ones do not count, since they can be closed.
  var weight: Int {
    multiplexing == .never ? running : running == 0 ? 0 : max(1, established + opening)
  }

  /// Whether nothing is left of it.
  var isEmpty: Bool { running == 0 && established == 0 }

  /// Whether requests are under way to an address.
  func isBusy(_ address: IPAddress?) -> Bool { load(of: address).map { $0.running > 0 } ?? false }

  /// Whether the connections to an address carry more requests than there are of them.
  func isShared(_ address: IPAddress?) -> Bool { load(of: address).map { $0.running > $0.established } ?? false }

  /// Whether one more request may start, when so many connections of others are free.
  func admission(free: Int) -> Admission {
    switch multiplexing {
    case .never:
      guard running < connectionLimit else { return .poolIsFull }
      guard free > 0 else { return .allAreTaken }
      return running < established ? .reuse : .open
    case .unknown where established > 0:
      // One more request finds out what the connection can do: it shares it, or has to open one of its own.
      return running - opening < 2 ? .reuse : .poolIsFull
    case .unknown, .always:
      if running - opening < established * streamLimit { return .reuse }
      guard opening == 0, established < connectionLimit else { return .poolIsFull }
      return free > 0 ? .open : .allAreTaken
    }
  }

  /// The addresses with one in front whose connection has room for one more request, if there is one: rotation must
  /// not cost a handshake for each request.
  ///
  /// One that died in the meantime keeps its place.
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

  // MARK: What happened

  /// A request was started toward an address.
  mutating func started(_ address: IPAddress?, opens: Bool) {
    running += 1
    if opens { opening += 1 }
    change(address) { $0.running += 1 }
  }

  /// A request got its connection, to the address that it was started toward or to another one.
  mutating func connected(_ address: IPAddress?, insteadOf first: IPAddress?, opened: Bool) {
    carried += 1
    if opened { opening -= 1 }
    guard address != first else { return }
    change(first) { $0.running -= 1 }
    change(address) { $0.running += 1 }
  }

  /// A request has ended, before or after it got its connection.
  mutating func ended(_ address: IPAddress?, wasOpening: Bool, wasConnected: Bool) {
    running -= 1
    if wasConnected { carried -= 1 }
    if wasOpening { opening -= 1 }
    change(address) { $0.running -= 1 }
  }

  /// A new connection stands.
  mutating func established(_ address: IPAddress?) {
    established += 1
    change(address) {
      $0.established += 1
      $0.isDead = false
    }
  }

  /// A connection that stood has been closed.
  ///
  /// It may have been the one that took no more: how many requests the others take shows again.
  mutating func closed(_ address: IPAddress?) {
    established -= 1
    streamLimit = mostStreams
    change(address) { $0.established -= 1 }
  }

  /// An address cannot be connected to, while requests are under way on what stands to it.
  ///
  /// A connection that carries many is not idle, and goes on.
  mutating func died(_ address: IPAddress) {
    if multiplexing == .never, isBusy(address) { change(address) { $0.isDead = true } }
  }

  /// A response told what the server speaks, or a request that got a connection which another one uses.
  mutating func learned(isMultiplexed: Bool) {
    multiplexing = isMultiplexed ? .always : .never
  }

  /// A request that was to share a connection cannot: the server speaks HTTP/1.1, or takes fewer requests a connection
  /// than we thought.
  mutating func overflowed() {
    switch multiplexing {
    case .never: break
    case .unknown: multiplexing = .never
    // One that nobody uses, and that is not used, says nothing of that: it is to another address, or dead.
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
