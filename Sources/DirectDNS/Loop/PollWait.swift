// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSLoop

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
