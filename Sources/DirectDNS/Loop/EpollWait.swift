// SPDX-License-Identifier: Apache-2.0
#if os(Linux)
  internal import CDirectDNSLoop

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
