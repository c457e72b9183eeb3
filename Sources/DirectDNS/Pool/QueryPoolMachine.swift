// SPDX-License-Identifier: Apache-2.0
internal import DequeModule

/// Decides about the DNS requests to one server: which wait and which are under way, which address is tried when, what
/// is sent again, and which connection serves no longer.
///
/// A pure value without a socket, lock or task; times are milliseconds of its owner's clock. Its owner tells it events,
/// asks it when libcurl asks for a decision, and carries out its ``actions`` when no callback of libcurl is running.
///
/// It has no connections of its own, unlike ``PoolMachine``: libcurl chooses one for each request, and all that is said
/// of it afterwards is its local port.
struct QueryPoolMachine {
  struct Query {
    let deadline: Int64
    /// How many times it has been sent again.
    var retries = 0
    /// Decides which addresses it tries; nil unless it is opening a connection and there are several.
    var race: ConnectionRace?
  }

  typealias QueryID = SlabID<Query>

  /// How far the transfer of a handle has come.
  enum Stage {
    /// It waits for a connection that others use or open, or has not begun.
    case waiting
    /// It is opening a connection.
    case connecting
    /// It has a connection, and the request has been sent on it.
    case sent
  }

  /// What is known of one of libcurl's handles.
  struct Handle {
    /// The query that it sends; nil if it is idle.
    var query: QueryID?
    var stage = Stage.waiting
    var address: IPAddress?
    /// Its number in the race of its query.
    var attempt = 0
    /// Whether a part of a response has come.
    var hasResponse = false
    /// Whether others can use its connection at the same time (HTTP/2).
    var isShared = false
    /// The local port of the connection that its last request was sent on.
    var port: Int32 = 0
    var startedAt = Int64.min
    /// When the last whole reply came.
    var repliedAt = Int64.min
    /// Whether the connection that it was on is lost, and its query was not given to the next one.
    var isLost = false

    /// Whether its query is on its connection.
    var isOnConnection: Bool { query != nil && stage == .sent }

    /// Whether its connection would be lost with its query.
    var needsItsQuery: Bool { stage == .connecting || stage == .sent && !isShared }
  }

  /// How libcurl ended the transfer of a handle.
  enum Outcome {
    case replied(isHTTP2: Bool)
    case failed(HTTPTransportError, AttemptEnd)
  }

  /// Which connection a transfer uses.
  enum Sharing {
    /// One that is there, where it can.
    case shared
    /// A new one.
    case own
  }

  /// Something that its owner has to do; actions are carried out in order.
  enum Action {
    /// Begin a query's transfer on an idle handle, which may be a new one.
    case begin(QueryID, handle: Int, IPAddress?, Sharing)
    /// Stop the transfer of a handle, if one is left: it is idle.
    case stop(handle: Int)
    /// Report the reply that a handle has received; the query's id is invalid from now on.
    case reply(QueryID, from: Int)
    /// Report that a query has failed; its id is invalid from now on.
    case fail(QueryID, HTTPTransportError)
    /// Report that a query was cancelled, which goes on for the sake of its connection; ``forget(_:)`` follows.
    case leave(QueryID)
    /// Such a query has ended, perhaps by a reply that nobody wants; its id is invalid from now on.
    case forget(QueryID)
    /// End the connection with that local port, under the requests that share it.
    case endConnection(port: Int32)
  }

  /// The limits of a pool.
  struct Limits {
    /// The most transfers in flight over HTTP/2.
    var width: Int
    /// The most connections over HTTP/1.1, and thus transfers in flight.
    var connections: Int
  }

  /// The most connections to a server of which it is not known that it speaks HTTP/1.1: over HTTP/2 one is enough for
  /// most servers; libcurl opens another one when a server's limit of streams is reached.
  static let fewConnections = 8

  /// Milliseconds from one attempt to connect to the next (RFC 8305 §8).
  static let attemptDelay: Int64 = 250

  /// After so many milliseconds without a reply on a connection, on which a query has timed out, it serves no longer.
  static let silenceLimit: Int64 = 1_000

  let limits: Limits
  /// Whether its connections carry one transfer at a time: always with plain http; with TLS it is known after the first
  /// response.
  var isSerial: Bool
  /// Whether its server is known to speak HTTP/2: until then, a connection may turn out to be one of HTTP/1.1.
  var speaksHTTP2 = false
  /// Its addresses in the order of trying: the one that connected last comes first, those that were silent last.
  var addresses: [IPAddress]
  var actions = ActionList<Action>()
  var queries = Slab<Query>()
  var handles: [Handle] = []
  private var idle: [Int] = []
  var queue = Deque<QueryID>()
  /// Handles whose connection has won its query's race, in the order in which that happened.
  var winners: [Int] = []
  /// Connections, by their local ports, that have not replied to queries which have timed out or were cancelled.
  var silent: [Int32: Silence] = [:]
  /// The query that was cancelled and goes on, so that its connection is there for the next one; see ``cancel(_:at:)``.
  private(set) var abandoned: QueryID?
  /// Nothing is due before this instant for the queries that are under way.
  var nextDue = Int64.max
  /// No waiting query times out before this instant.
  var nextWaitingDue = Int64.max

  init(_ limits: Limits, isSerial: Bool, addresses: [IPAddress]) {
    self.limits = limits
    self.isSerial = isSerial
    self.addresses = addresses
  }

  /// How many transfers are under way.
  var running: Int { handles.count - idle.count }

  /// How many of them are queries that somebody waits for.
  var awaited: Int {
    guard let abandoned else { return running }
    return running - handles.count { $0.query == abandoned }
  }

  /// How many connections it may have.
  var connectionLimit: Int { isSerial ? limits.connections : min(Self.fewConnections, limits.connections) }

  var isEmpty: Bool { queries.count == 0 }

  /// How many transfers may be in flight.
  private var width: Int { isSerial ? limits.connections : limits.width }

  // MARK: Beginning and end

  /// Starts a query, or puts it into the queue.
  mutating func start(deadline: Int64, at now: Int64) -> QueryID {
    let id = queries.insert(Query(deadline: deadline))
    if awaited < width, queue.isEmpty {
      begin(id, to: addresses.first, attempt: 0, at: now)
    } else {
      queue.append(id)
      nextWaitingDue = min(nextWaitingDue, deadline)
    }
    return id
  }

  /// Ends a query that nobody wants any more.
  ///
  /// A connection that it opens is opened all the same, with a race over the addresses: where another server is asked
  /// after 150 ms, one that takes longer to connect to would otherwise never be reached, nor its second address tried.
  /// Over HTTP/1.1 a connection serves again only once it has replied: the query goes out, and its reply is dropped.
  mutating func cancel(_ id: QueryID, at now: Int64) {
    guard queries.has(id), id != abandoned else { return }
    noteSilence(id, timedOut: false, at: now)
    guard abandoned == nil, handles.contains(where: { $0.query == id && $0.needsItsQuery }) else {
      return fail(id, .cancelled, at: now)
    }
    abandoned = id
    actions.append(.leave(id))
    fill(at: now)
  }

  mutating func stop() {
    queue.removeAll()
    for id in queries.ids { fail(id, .shutDown, at: .max) }
  }

  mutating func fail(_ id: QueryID, _ error: HTTPTransportError, at now: Int64) {
    guard queries.remove(id) != nil else { return }
    if id == abandoned {
      abandoned = nil
      actions.append(.forget(id))
    } else {
      actions.append(.fail(id, error))
    }
    for number in handles.indices where handles[number].query == id { release(number) }
    fill(at: now)
  }

  /// Begins a transfer of a query.
  mutating func begin(_ id: QueryID, to address: IPAddress?, attempt: Int, at now: Int64) {
    let number = idle.popLast() ?? handles.count
    if number == handles.count { handles.append(Handle()) }
    handles[number] = Handle(
      query: id, address: address, attempt: attempt, port: handles[number].port, startedAt: now,
      repliedAt: handles[number].repliedAt)
    let (deadline, retries) = queries.read(id) { ($0.deadline, $0.retries) } ?? (.max, 0)
    nextDue = min(nextDue, deadline)
    actions.append(.begin(id, handle: number, address, retries > 1 ? .own : .shared))
  }

  /// Sends a query once more, from the first address on.
  mutating func beginAgain(_ id: QueryID, by number: Int, at now: Int64) {
    queries.change(id) { $0.race = nil }
    release(number)
    begin(id, to: addresses.first, attempt: 0, at: now)
  }

  mutating func release(_ number: Int) {
    // Its connection has replied, or ends with it.
    if isSerial { silent[handles[number].port] = nil }
    handles[number].query = nil
    idle.append(number)
    actions.append(.stop(handle: number))
  }

  /// Begins queries that wait, as far as there is room.
  mutating func fill(at now: Int64) {
    while awaited < width, let next = queue.popFirst() {
      // Those that have ended are left in the queue until it is their turn.
      if queries.has(next) { begin(next, to: addresses.first, attempt: 0, at: now) }
    }
  }

  // MARK: What libcurl does

  /// A handle's transfer opens a connection.
  mutating func dialled(_ number: Int, at now: Int64) {
    guard let id = handles[number].query else { return }
    noteLoss(of: number, at: now)
    handles[number].stage = .connecting
    if addresses.count > 1 { beginRace(of: id, by: number, at: now) }
  }

  /// A handle's transfer has a connection, established or shared.
  ///
  /// - Parameters:
  ///   - number: the handle's.
  ///   - port: the connection's local port.
  ///   - isHTTP2: whether it is known to speak HTTP/2.
  ///   - now: the present instant.
  /// - Returns: whether the query may be sent on it: that happens once, on the connection that came first.
  mutating func connected(_ number: Int, port: Int32, isHTTP2: Bool, at now: Int64) -> Bool {
    guard let id = handles[number].query else { return false }
    if handles[number].port != port, noteLoss(of: number, at: now) {
      // The next one has ended with it.
      handles[number].isLost = true
      return false
    }
    let attempt = handles[number].attempt
    // Nil without a race.
    let wins = queries.change(id) { $0.race?.connected(attempt) } ?? nil
    guard wins != false else { return false }
    if wins == true || id == abandoned { winners.append(number) }
    handles[number].stage = .sent
    if !isHTTP2 { exchangePorts(number, port) }
    handles[number].port = port
    handles[number].isShared = isHTTP2
    if isHTTP2 { speaksHTTP2 = true }
    // libcurl keeps a connection that several can share, although nothing is sent on it.
    return id != abandoned || !isHTTP2
  }

  /// Gives whichever handle used a connection last what this one did: libcurl takes any that is idle, and each that is
  /// kept has to be known by some handle.
  private mutating func exchangePorts(_ number: Int, _ port: Int32) {
    guard let other = handles.firstIndex(where: { $0.port == port && !$0.isOnConnection }) else { return }
    let (own, repliedAt) = (handles[number].port, handles[number].repliedAt)
    handles[number].repliedAt = handles[other].repliedAt
    (handles[other].port, handles[other].repliedAt) = (own, repliedAt)
  }

  /// A handle's transfer has a connection of HTTP/1.1, which it takes a new handle of libcurl's to use, or which none
  /// may use.
  ///
  /// - Returns: whether it is begun once more by one; not for the sake of a query that was cancelled, since all further
  ///   ones are begun by new handles.
  mutating func mayStartOver(_ number: Int) -> Bool {
    (isSerial, speaksHTTP2) = (true, false)
    return handles[number].query != abandoned
  }

  /// The response of a handle's transfer has begun.
  mutating func responded(_ number: Int) { handles[number].hasResponse = true }
}
