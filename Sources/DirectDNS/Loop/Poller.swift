// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSLoop

/// Waits until something can be read from a socket or written to it, until a time, or until it is woken.
///
/// By epoll on Linux, where a wait costs what the ready sockets cost, however many others there are; elsewhere by
/// poll(2). Used by its thread alone.
final class Poller {
  /// What is waited for at a socket, in libcurl's bits for it (CURL_POLL_IN and CURL_CSELECT_IN, likewise OUT).
  struct Interest: OptionSet {
    let rawValue: UInt8

    static let reading = Interest(rawValue: 1)
    static let writing = Interest(rawValue: 2)
  }

  private struct Watch {
    var wanted: Interest = []
    /// What the kernel was told to watch it for.
    var registered: Interest = []
    /// Whether its end will be told.
    var isKnown = false
    var owner: UInt8 = 0
  }

  /// By descriptor: the kernel gives out the lowest number that is free.
  private var watches: [Watch] = []
  private let wakeUp: WakeUp
  private let system: any PollerWait
  /// Events of the last wait.
  private var count = 0

  init(_ wakeUp: WakeUp, system: any PollerWait) {
    self.wakeUp = wakeUp
    self.system = system
    system.register(wakeUp.descriptor, .reading, insteadOf: [])
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

  /// Watches a socket for its owner; an empty interest ends that.
  ///
  /// Between two requests libcurl wants nothing of a connection. The kernel is told of that only when the connection
  /// has something to say in the meantime: to take it out and to put it in again would cost each request two calls.
  func watch(_ socket: CInt, for interest: Interest, owner: UInt8) {
    let place = place(of: socket)
    watches[place].owner = owner
    watches[place].wanted = interest
    if watches[place].registered != interest, !interest.isEmpty || !watches[place].isKnown { register(place) }
  }

  /// Whether a socket is watched for that.
  func isWatched(_ socket: CInt, for interest: Interest) -> Bool {
    watches.indices.contains(Int(socket)) && watches[Int(socket)].wanted.isSuperset(of: interest)
  }

  /// A socket was opened, and its end will be told: before that, no other one has its number.
  func opened(_ socket: CInt) { watches[place(of: socket)] = Watch(isKnown: true) }

  /// A socket is about to be closed, with which the kernel forgets it as well.
  func closed(_ socket: CInt) {
    let place = place(of: socket)
    if !watches[place].registered.isEmpty {
      watches[place].wanted = []
      register(place)
    }
    watches[place] = Watch()
  }

  /// Waits for so many milliseconds at most.
  ///
  /// - Returns: whether anything happened.
  func wait(_ milliseconds: Int64) -> Bool {
    count = system.wait(CInt(clamping: milliseconds))
    return count > 0
  }

  /// Hands out the sockets that were ready: each with what it is ready for, nothing where nobody waits for what it has to
  /// say, and its owner.
  func forEach(_ body: (_ socket: CInt, _ ready: Interest, _ owner: UInt8) -> Void) {
    for index in 0..<count {
      let (socket, ready) = system.event(index)
      if wakeUp.isFor(socket) {
        wakeUp.wasSeen()
        continue
      }
      let place = Int(socket)
      let watch = watches[place]
      let wanted = ready.intersection(watch.wanted)
      if !wanted.isEmpty {
        body(socket, wanted, watch.owner)
      } else if watch.wanted.isEmpty, !watch.registered.isEmpty {
        register(place)
        body(socket, [], watch.owner)
      }
    }
  }

  private func place(of socket: CInt) -> Int {
    let place = Int(socket)
    while place >= watches.count { watches.append(Watch()) }
    return place
  }

  private func register(_ place: Int) {
    system.register(CInt(place), watches[place].wanted, insteadOf: watches[place].registered)
    watches[place].registered = watches[place].wanted
  }
}

/// The system call that waits.
protocol PollerWait: AnyObject {
  /// Changes what a descriptor is watched for; an empty interest ends that.
  func register(_ descriptor: CInt, _ interest: Poller.Interest, insteadOf before: Poller.Interest)

  /// Waits for so many milliseconds at most.
  ///
  /// - Returns: how many events there are.
  func wait(_ milliseconds: CInt) -> Int

  /// An event of the last wait.
  func event(_ index: Int) -> (descriptor: CInt, ready: Poller.Interest)
}

/// Waits by poll(2), where there is no epoll: a wait costs what all sockets cost.
final class PollWait: PollerWait {
  private var watched: [directdns_pollfd] = []
  private var places: [CInt: Int] = [:]
  private var ready: [(descriptor: CInt, ready: Poller.Interest)] = []

  func register(_ descriptor: CInt, _ interest: Poller.Interest, insteadOf before: Poller.Interest) {
    if interest.isEmpty {
      guard let place = places.removeValue(forKey: descriptor), let last = watched.popLast() else { return }
      if place < watched.count {
        watched[place] = last
        places[last.fd] = place
      }
      return
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
  }

  func wait(_ milliseconds: CInt) -> Int {
    ready.removeAll(keepingCapacity: true)
    guard unsafe directdns_poll(&watched, CInt(watched.count), milliseconds) > 0 else { return 0 }
    // Anything else is an error or an end: it is there to be read, and to be run into by writing.
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
    private let descriptor: CInt
    private let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: 256)

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

    func register(_ socket: CInt, _ interest: Poller.Interest, insteadOf before: Poller.Interest) {
      var event = unsafe epoll_event()
      unsafe event.data.fd = socket
      if interest.contains(.reading) { unsafe event.events |= EPOLLIN.rawValue }
      if interest.contains(.writing) { unsafe event.events |= EPOLLOUT.rawValue }
      let change = interest.isEmpty ? EPOLL_CTL_DEL : before.isEmpty ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
      unsafe _ = epoll_ctl(descriptor, change, socket, &event)
    }

    func wait(_ milliseconds: CInt) -> Int {
      guard let room = unsafe events.baseAddress else { return 0 }
      // An interrupted call is one without an event: whoever waits looks at the clock anyway.
      return unsafe max(0, Int(epoll_wait(descriptor, room, CInt(events.count), milliseconds)))
    }

    func event(_ index: Int) -> (descriptor: CInt, ready: Poller.Interest) {
      let event = unsafe events[index]
      var ready: Poller.Interest = []
      // An error and an end are there to be read, and to be run into by writing.
      let failed = EPOLLERR.rawValue | EPOLLHUP.rawValue
      if unsafe event.events & (EPOLLIN.rawValue | failed) != 0 { ready.insert(.reading) }
      if unsafe event.events & (EPOLLOUT.rawValue | failed) != 0 { ready.insert(.writing) }
      return unsafe (event.data.fd, ready)
    }
  }
#endif
