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
