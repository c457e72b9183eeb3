// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSLoop

/// Waits until a socket is readable or writable, until an instant, or until it is woken.
///
/// It uses epoll on Linux, where the cost of a wait depends on the ready sockets only, and poll(2) elsewhere. Used by
/// one thread only.
final class Poller {
  /// What is waited for at a socket, in libcurl's bits for it (CURL_POLL_IN and CURL_CSELECT_IN, likewise OUT).
  struct Interest: OptionSet {
    let rawValue: UInt8

    static let reading = Interest(rawValue: 1)
    static let writing = Interest(rawValue: 2)
  }

  private struct Watch {
    var wanted: Interest = []
    /// What the kernel watches it for.
    var registered: Interest = []
    /// Whether ``Poller/closed(_:)`` will be called for it.
    var isKnown = false
    var owner: UInt8 = 0
  }

  /// Indexed by descriptor, since the kernel always uses the lowest free number.
  private var watches: [Watch] = []
  private let wakeUp: WakeUp
  private let system: any PollerWait
  /// Descriptors that the kernel would not watch, for want of memory or of watches (epoll_ctl(2)).
  ///
  /// It is asked again before each wait, and the waits are short until it does: what comes there would never be seen.
  private var refused: Set<CInt> = []
  /// The longest wait in milliseconds while the kernel does not watch what it should.
  static let refusedWait: Int64 = 100
  /// The number of events of the last wait.
  private var count = 0

  init(_ wakeUp: WakeUp, system: any PollerWait) {
    self.wakeUp = wakeUp
    self.system = system
    watch(wakeUp.descriptor, for: .reading, owner: 0)
  }

  /// - Returns: nil when the process may open no further files.
  convenience init?(_ wakeUp: WakeUp) {
    #if os(Linux)
      guard let system = EpollWait() else { return nil }
    #else
      let system = PollWait()
    #endif
    self.init(wakeUp, system: system)
  }

  /// Watches a socket for its owner; with an empty interest, no longer.
  ///
  /// Between two requests libcurl does not want a connection watched. The kernel goes on watching it until something
  /// comes in the meantime: removing and adding it again would cost two calls for each request.
  func watch(_ socket: CInt, for interest: Interest, owner: UInt8) {
    let place = place(of: socket)
    watches[place].owner = owner
    watches[place].wanted = interest
    if watches[place].registered != interest, !interest.isEmpty || !watches[place].isKnown {
      register(place, for: interest)
    }
  }

  /// Whether a socket is watched for something.
  func isWatched(_ socket: CInt, for interest: Interest) -> Bool {
    watches.indices.contains(Int(socket)) && watches[Int(socket)].wanted.isSuperset(of: interest)
  }

  /// A socket was opened, and ``closed(_:)`` will be called before another one has its number.
  func opened(_ socket: CInt) {
    refused.remove(socket)
    watches[place(of: socket)] = Watch(isKnown: true)
  }

  /// A socket is about to be closed; then the kernel stops watching it.
  func closed(_ socket: CInt) {
    let place = place(of: socket)
    if !watches[place].registered.isEmpty {
      register(place, for: [])
    }
    refused.remove(socket)
    watches[place] = Watch()
  }

  /// Waits for at most so many milliseconds.
  ///
  /// - Returns: whether anything happened.
  func wait(_ milliseconds: Int64) -> Bool {
    for socket in refused { register(Int(socket), for: watches[Int(socket)].wanted) }
    count = system.wait(CInt(clamping: refused.isEmpty ? milliseconds : min(milliseconds, Self.refusedWait)))
    return count > 0
  }

  /// Calls `body` for each socket that was ready, with its owner and what it is ready for; that is empty if something
  /// has come that nobody waits for.
  ///
  /// Room to write, which nobody waits for, is nothing to tell; then the kernel goes on watching for what comes.
  func forEach(_ body: (_ socket: CInt, _ ready: Interest, _ owner: UInt8) -> Void) {
    for index in 0..<count {
      let (socket, ready) = system.event(index)
      if socket == wakeUp.descriptor {
        wakeUp.wasSeen()
        continue
      }
      let place = Int(socket)
      let watch = watches[place]
      let wanted = ready.intersection(watch.wanted)
      if !wanted.isEmpty {
        body(socket, wanted, watch.owner)
      } else if watch.wanted.isEmpty, !watch.registered.isEmpty {
        let hasCome = ready.contains(.reading)
        register(place, for: hasCome ? [] : .reading)
        if hasCome { body(socket, [], watch.owner) }
      }
    }
  }

  private func place(of socket: CInt) -> Int {
    let place = Int(socket)
    while place >= watches.count { watches.append(Watch()) }
    return place
  }

  private func register(_ place: Int, for interest: Interest) {
    let socket = CInt(place)
    let isTaken = system.register(socket, interest, insteadOf: watches[place].registered)
    guard isTaken || interest.isEmpty else {
      refused.insert(socket)
      return
    }
    refused.remove(socket)
    watches[place].registered = interest
  }
}

/// The system call that waits.
protocol PollerWait: AnyObject {
  /// Changes what a descriptor is watched for; with an empty interest it is no longer watched.
  ///
  /// - Returns: whether the kernel does so.
  @discardableResult
  func register(_ descriptor: CInt, _ interest: Poller.Interest, insteadOf before: Poller.Interest) -> Bool

  /// Waits for at most so many milliseconds.
  ///
  /// - Returns: the number of events.
  func wait(_ milliseconds: CInt) -> Int

  /// One event of the last wait.
  func event(_ index: Int) -> (descriptor: CInt, ready: Poller.Interest)
}

/// Waits by poll(2), for systems without epoll; the cost of a wait depends on all sockets.
final class PollWait: PollerWait {
  private var watched: [directdns_pollfd] = []
  private var places: [CInt: Int] = [:]
  private var ready: [(descriptor: CInt, ready: Poller.Interest)] = []

  @discardableResult
  func register(_ descriptor: CInt, _ interest: Poller.Interest, insteadOf before: Poller.Interest) -> Bool {
    if interest.isEmpty {
      guard let place = places.removeValue(forKey: descriptor), let last = watched.popLast() else { return true }
      if place < watched.count {
        watched[place] = last
        places[last.fd] = place
      }
      return true
    }
    var events: Int16 = 0
    if interest.contains(.reading) { events |= directdns_pollin }
    if interest.contains(.writing) { events |= directdns_pollout }
    if let place = places[descriptor] {
      watched[place].events = events
    } else {
      places[descriptor] = watched.count
      watched.append(directdns_pollfd(fd: descriptor, events: events, revents: 0))
    }
    return true
  }

  func wait(_ milliseconds: CInt) -> Int {
    ready.removeAll(keepingCapacity: true)
    guard unsafe directdns_poll(&watched, CInt(watched.count), milliseconds) > 0 else { return 0 }
    // Anything else is an error or an end, which shows by reading as well as by writing.
    let known = directdns_pollin | directdns_pollout
    for watch in watched where watch.revents != 0 {
      var interest: Poller.Interest = []
      if watch.revents & (directdns_pollin | ~known) != 0 { interest.insert(.reading) }
      if watch.revents & (directdns_pollout | ~known) != 0 { interest.insert(.writing) }
      ready.append((watch.fd, interest))
    }
    return ready.count
  }

  func event(_ index: Int) -> (descriptor: CInt, ready: Poller.Interest) { ready[index] }
}

#if os(Linux)
  /// Waits by epoll(7).
  @safe final class EpollWait: PollerWait {
    /// The most events of one wait, of 12 bytes each; the kernel gives out the others, in turn, at the next ones.
    private static let eventRoom = 256

    private let descriptor: CInt
    private let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: EpollWait.eventRoom)

    /// - Returns: nil when the process may open no further files.
    init?() {
      descriptor = epoll_create1(CInt(EPOLL_CLOEXEC))
      unsafe events.initialize(repeating: epoll_event())
      guard descriptor >= 0 else { return nil }
    }

    deinit {
      if descriptor >= 0 { directdns_loop_close(descriptor) }
      unsafe events.deallocate()
    }

    @discardableResult
    func register(_ socket: CInt, _ interest: Poller.Interest, insteadOf before: Poller.Interest) -> Bool {
      var event = unsafe epoll_event()
      unsafe event.data.fd = socket
      if interest.contains(.reading) { unsafe event.events |= directdns_epollin }
      if interest.contains(.writing) { unsafe event.events |= directdns_epollout }
      let change = interest.isEmpty ? EPOLL_CTL_DEL : before.isEmpty ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
      return unsafe epoll_ctl(descriptor, change, socket, &event) == 0
    }

    func wait(_ milliseconds: CInt) -> Int {
      guard let room = unsafe events.baseAddress else { return 0 }
      // An interrupted call counts as one without events: the caller looks at the clock anyway.
      return unsafe max(0, Int(epoll_wait(descriptor, room, CInt(events.count), milliseconds)))
    }

    func event(_ index: Int) -> (descriptor: CInt, ready: Poller.Interest) {
      let event = unsafe events[index]
      var ready: Poller.Interest = []
      // An error or an end shows by reading as well as by writing.
      let failed = directdns_epoll_failed
      if unsafe event.events & (directdns_epollin | failed) != 0 { ready.insert(.reading) }
      if unsafe event.events & (directdns_epollout | failed) != 0 { ready.insert(.writing) }
      return unsafe (event.data.fd, ready)
    }
  }
#endif
