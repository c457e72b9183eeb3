// SPDX-License-Identifier: Apache-2.0
internal import DequeModule

/// The one thread that asks the system's DNS: all lookups under way share it.
///
/// It begins with the first lookup, and ends when there was none for a while.
final class CaresLoop: Sendable {
  /// Lookups of the whole process.
  static let shared = CaresLoop()

  let loop: Loop<CaresQueries>

  /// Creates a loop; its thread begins with the first lookup.
  ///
  /// - Parameters:
  ///   - resolvConf: another file in place of /etc/resolv.conf.
  ///   - idleTime: how long the thread waits for a further lookup.
  init(resolvConf: String? = nil, idleTime: Duration = .seconds(10)) {
    loop = Loop(CaresQueries.Settings(resolvConf: resolvConf, idleTime: idleTime))
  }

  /// Begins a lookup.
  func start(_ query: CaresQuery) {
    guard !loop.post(query) else { return }
    query.finish(.failure(.failed("the process may open no further files")))
  }

  /// Lets the caller of a lookup go; what was sent for it is dropped with the last one that shares its channel.
  func cancel(_ query: CaresQuery) {
    query.finish(.failure(.cancelled))
    loop.wake()
  }
}

/// The lookups of one loop: as many at once as a small network takes, on channels that read the system's configuration as
/// it is by then.
final class CaresQueries: LoopDriver {
  struct Settings: Sendable {
    /// Another file in place of /etc/resolv.conf.
    var resolvConf: String?
    /// How long the thread waits for a further lookup.
    var idleTime: Duration
  }

  private let settings: Settings
  private let poller: Poller
  /// The channel that takes the next lookup of its kind.
  private var current: [CaresChannel.Kind: CaresChannel] = [:]
  private var channels: [CaresChannel] = []
  /// Lookups that there is no room for yet, in the order of their arrival.
  private var waiting = Deque<CaresQuery>()
  /// None of those that wait is due before.
  private var earliestDeadline = ResolverInstant(nanoseconds: .max)
  private let clock = SystemClock()
  var now = LoopTime.now

  /// Lookups under way at once: a forwarder on a small network takes 150 (dnsmasq's `dns-forward-max`), and a socket's
  /// buffer has to hold what comes back at once.
  static let limit = 128

  static var threadName: String { "cares" }

  init(_ settings: Settings, poller: Poller) {
    self.settings = settings
    self.poller = poller
  }

  var idleLimit: Int64? { settings.idleTime.wholeMilliseconds }

  func carryOut(_ query: CaresQuery) {
    waiting.append(query)
    earliestDeadline = min(earliestDeadline, query.deadline)
  }

  func act(on socket: CInt, _ ready: Poller.Interest, owner: UInt8) {
    // Another socket's event may have closed this one meanwhile.
    channels.first { $0.sockets.contains(socket) }?.act(on: socket, ready)
  }

  func turn(hasNews: Bool) -> Int64 {
    let now = clock.now
    var due: ResolverInstant
    repeat {
      startWaiting(at: now)
      due = channels.reduce(earliestDeadline) { min($0, $1.endTurn(at: now)) }
      // Those that were given up or have timed out make room for those that wait.
    } while !waiting.isEmpty && room > 0
    // A millisecond is not cut short, or the rest of it would be a busy wait.
    return due.nanoseconds == .max ? .max : LoopTime.milliseconds(due) + 1
  }

  func stop() {
    for query in waiting { query.finish(.failure(.cancelled)) }
    waiting = []
  }

  func close() { for channel in channels { channel.close() } }

  // MARK: Starting

  private var room: Int { Self.limit - channels.reduce(0) { $0 + $1.count } }

  /// Begins as many lookups as there is room for, and ends those that waited too long.
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
        servers: query.lookup.servers, searches: query.lookup.host.isSingleLabel, system: system)
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
