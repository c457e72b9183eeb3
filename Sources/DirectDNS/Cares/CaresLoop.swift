// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCares
internal import DequeModule

/// The one thread that asks the system's DNS: all lookups under way share it.
///
/// It begins with the first lookup, and ends when there was none for a while.
final class CaresLoop: Sendable {
  /// Lookups of the whole process.
  static let shared = CaresLoop()

  private struct State {
    var started: [CaresQuery] = []
    /// There while the thread is.
    var wakeUp: WakeUp?
  }

  private let state = Locked(State())
  private let resolvConf: String?
  private let idleTime: Duration

  /// Creates a loop; its thread begins with the first lookup.
  ///
  /// - Parameters:
  ///   - resolvConf: another file in place of /etc/resolv.conf.
  ///   - idleTime: how long the thread waits for a further lookup.
  init(resolvConf: String? = nil, idleTime: Duration = .seconds(10)) {
    self.resolvConf = resolvConf
    self.idleTime = idleTime
  }

  /// Begins a lookup.
  func start(_ query: CaresQuery) {
    let isTaken = state.withLock { state in
      if state.wakeUp == nil { state.wakeUp = startThread() }
      guard let wakeUp = state.wakeUp else { return false }
      state.started.append(query)
      wakeUp.call()
      return true
    }
    if !isTaken { query.finish(.failure(.failed("the process may open no further files"))) }
  }

  /// Lets the caller of a lookup go; what was sent for it is dropped with the last one that shares its channel.
  func cancel(_ query: CaresQuery) {
    query.finish(.failure(.cancelled))
    state.withLock { $0.wakeUp?.call() }
  }

  /// Whether there is a thread.
  var isRunning: Bool { state.withLock { $0.wakeUp != nil } }

  private func startThread() -> WakeUp? {
    guard let wakeUp = WakeUp() else { return nil }
    WorkerThread.start("cares") { [self] in
      var thread = CaresThread(wakeUp, resolvConf: resolvConf)
      thread.run(self)
    }
    return wakeUp
  }

  // MARK: The thread

  fileprivate func take() -> [CaresQuery] {
    state.withLock { state in
      defer { state.started = [] }
      return state.started
    }
  }

  /// Whether the thread, which has nothing to do, is to end after its wait.
  fileprivate func mayEnd() -> Bool {
    state.withLock { state in
      guard state.started.isEmpty else { return false }
      state.wakeUp = nil
      return true
    }
  }

  fileprivate var idleMilliseconds: Int32 { Int32(clamping: idleTime.wholeMilliseconds) }
}

/// What the thread has: the channels and their sockets.
private struct CaresThread {
  private let wakeUp: WakeUp
  private let resolvConf: String?
  /// The channel that takes the next lookup of its kind.
  private var current: [CaresChannel.Kind: CaresChannel] = [:]
  private var channels: [CaresChannel] = []
  /// Lookups that there is no room for yet, in the order of their arrival.
  private var waiting = Deque<CaresQuery>()
  /// None of those that wait is due before.
  private var earliestDeadline = ResolverInstant(nanoseconds: .max)
  private let clock = SystemClock()

  /// Lookups under way at once: a forwarder on a small network takes 150 (dnsmasq's `dns-forward-max`), and a socket's
  /// buffer has to hold what comes back at once.
  private static let limit = 128

  init(_ wakeUp: WakeUp, resolvConf: String?) {
    self.wakeUp = wakeUp
    self.resolvConf = resolvConf
  }

  mutating func run(_ loop: CaresLoop) {
    while true {
      for query in loop.take() {
        waiting.append(query)
        earliestDeadline = min(earliestDeadline, query.deadline)
      }
      let now = clock.now
      startWaiting(at: now)
      let due = channels.reduce(earliestDeadline) { min($0, $1.settle(at: now)) }
      let isIdle = channels.allSatisfy(\.isIdle) && waiting.isEmpty
      // A millisecond is not cut short, or the rest of it would be a busy wait.
      let patience = isIdle ? loop.idleMilliseconds : Int32(clamping: (due - now).wholeMilliseconds + 1)
      if !wait(patience), isIdle, loop.mayEnd() { break }
    }
    for channel in channels { channel.close() }
  }

  /// Begins as many lookups as there is room for, and ends those that waited too long.
  private mutating func startWaiting(at now: ResolverInstant) {
    var room = Self.limit - channels.reduce(0) { $0 + $1.count }
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

  private mutating func start(_ queries: [CaresQuery]) {
    let system = CaresSystem(resolvConf: resolvConf)
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

  private mutating func channel(of kind: CaresChannel.Kind) throws(CaresError) -> CaresChannel {
    if let channel = current[kind], channel.room > 0 { return channel }
    let channel = try CaresChannel(kind)
    current[kind] = channel
    channels.append(channel)
    return channel
  }

  /// Waits, and goes on with the sockets that are ready.
  ///
  /// - Returns: whether anything happened.
  private func wait(_ milliseconds: Int32) -> Bool {
    var polled = [pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)]
    var owners = [0]
    for (index, channel) in channels.enumerated() {
      for (socket, events) in channel.sockets {
        polled.append(pollfd(fd: socket, events: events, revents: 0))
        owners.append(index)
      }
    }
    guard unsafe poll(&polled, nfds_t(polled.count), milliseconds) > 0 else { return false }
    if polled[0].revents != 0 { wakeUp.wasSeen() }
    for (entry, owner) in zip(polled, owners).dropFirst() where entry.revents != 0 {
      channels[owner].act(on: entry.fd, entry.revents)
    }
    return true
  }
}
