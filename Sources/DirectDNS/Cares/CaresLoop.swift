// SPDX-License-Identifier: Apache-2.0
internal import DequeModule

/// The thread that asks the system's DNS, which all lookups share.
///
/// It starts with the first lookup, and ends when there has been none for a while.
final class CaresLoop: Sendable {
  /// The loop of the whole process.
  static let shared = CaresLoop()

  let loop: Loop<CaresQueries>

  /// Creates a loop; its thread starts with the first lookup.
  ///
  /// - Parameters:
  ///   - resolvConf: a file to read instead of /etc/resolv.conf.
  ///   - idleTime: how long the idle thread waits for another lookup before it ends.
  init(resolvConf: String? = nil, idleTime: Duration = .seconds(10)) {
    loop = Loop(CaresQueries.Settings(resolvConf: resolvConf, idleTime: idleTime))
  }

  /// Begins a lookup.
  func start(_ query: CaresQuery) {
    guard !loop.post(query) else { return }
    query.finish(.failure(.failed(loop.refusal.text)))
  }

  /// Ends the wait of a lookup's caller; its query ends when nobody waits for any lookup on its channel.
  func cancel(_ query: CaresQuery) {
    query.finish(.failure(.cancelled))
    loop.wake()
  }
}

/// The lookups of one loop: a limited number at a time, on channels that have the present configuration of the system.
final class CaresQueries: LoopDriver {
  struct Settings: Sendable {
    /// A file to read instead of /etc/resolv.conf.
    var resolvConf: String?
    /// How long the idle thread waits for another lookup before it ends.
    var idleTime: Duration
  }

  private let settings: Settings
  private let poller: Poller
  /// The channel that takes the next lookup of its kind.
  private var current: [CaresChannel.Kind: CaresChannel] = [:]
  private var channels: [CaresChannel] = []
  /// Lookups that wait because too many are under way, in the order of their arrival.
  private var waiting = Deque<CaresQuery>()
  /// No waiting lookup times out before this instant.
  private var earliestDeadline = ResolverInstant(nanoseconds: .max)
  private let clock = SystemClock()
  var now = LoopTime.now

  /// The most lookups at a time.
  ///
  /// A forwarder on a small network takes 150 (dnsmasq's `dns-forward-max`), and a socket's buffer has to have room for
  /// all answers that come at once.
  static let limit = 128

  static var threadName: String { "cares" }

  init(_ settings: Settings, poller: Poller, resumption: TaskResumption) {
    self.settings = settings
    self.poller = poller
  }

  var idleLimit: Int64? { settings.idleTime.wholeMilliseconds }

  func carryOut(_ query: CaresQuery) {
    waiting.append(query)
    earliestDeadline = min(earliestDeadline, query.deadline)
  }

  func act(on socket: CInt, _ ready: Poller.Interest, owner: UInt8) {
    // The event of another socket may have closed this one.
    channels.first { $0.sockets.contains(socket) }?.act(on: socket, ready)
  }

  func turn(hasNews: Bool) -> Int64 {
    let now = clock.now
    var due: ResolverInstant
    repeat {
      startWaiting(at: now)
      due = channels.reduce(earliestDeadline) { min($0, $1.endTurn(at: now)) }
      // Lookups that have ended make room for others.
    } while !waiting.isEmpty && room > 0
    // Rounded up to the next millisecond: otherwise the loop would wake up too early, again and again.
    return due.nanoseconds == .max ? .max : LoopTime.milliseconds(due) + 1
  }

  func stop() {
    for query in waiting { query.finish(.failure(.cancelled)) }
    waiting = []
  }

  func close() { for channel in channels { channel.close() } }

  // MARK: Starting

  private var room: Int { Self.limit - channels.reduce(0) { $0 + $1.count } }

  /// Begins as many waiting lookups as there is room for, and ends those that have timed out.
  private func startWaiting(at now: ResolverInstant) {
    var room = room
    var next: [CaresQuery] = []
    while room > 0, let query = waiting.popFirst() {
      guard !query.isOver else { continue }
      next.append(query)
      room -= 1
    }
    if !next.isEmpty { start(next) }
    guard earliestDeadline <= now || waiting.isEmpty else { return }
    for query in waiting where query.deadline <= now { query.finish(.failure(.timedOut)) }
    waiting.removeAll(where: \.isOver)
    earliestDeadline = waiting.reduce(ResolverInstant(nanoseconds: .max)) { min($0, $1.deadline) }
  }

  private func start(_ queries: [CaresQuery]) {
    let system = CaresSystem(resolvConf: settings.resolvConf)
    current = current.filter { $0.key.system == system && $0.value.room > 0 }
    for query in queries where !query.isOver {
      let kind = CaresChannel.Kind(
        servers: query.lookup.servers, timeout: CaresChannel.Kind.timeout(within: query.lookup.timeout),
        system: system)
      do throws(CaresError) { try channel(of: kind).start(query) } catch { query.finish(.failure(error)) }
    }
    channels.removeAll { channel in
      guard channel.isIdle, !current.values.contains(where: { $0 === channel }) else { return false }
      channel.close()
      return true
    }
  }

  private func channel(of kind: CaresChannel.Kind) throws(CaresError) -> CaresChannel {
    if let channel = current[kind], channel.room > 0 { return channel }
    let channel = try CaresChannel(kind, poller: poller)
    current[kind] = channel
    channels.append(channel)
    return channel
  }
}
