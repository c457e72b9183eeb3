// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// Waits by poll(2), where there is no epoll: a wait costs what all sockets cost.
final class CurlPoll: CurlPoller {
  private var watched: [curl_waitfd] = []
  private var places: [CInt: Int] = [:]
  private var ready: [(descriptor: CInt, ready: CurlEvents.Interest)] = []

  func register(_ descriptor: CInt, _ interest: CurlEvents.Interest, insteadOf before: CurlEvents.Interest) {
    if interest.isEmpty {
      guard let place = places.removeValue(forKey: descriptor), let last = watched.popLast() else { return }
      if place < watched.count {
        watched[place] = last
        places[last.fd] = place
      }
      return
    }
    var events: Int16 = 0
    if interest.contains(.reading) { events |= Int16(CURL_WAIT_POLLIN) }
    if interest.contains(.writing) { events |= Int16(CURL_WAIT_POLLOUT) }
    if let place = places[descriptor] {
      watched[place].events = events
    } else {
      places[descriptor] = watched.count
      watched.append(curl_waitfd(fd: descriptor, events: events, revents: 0))
    }
  }

  func wait(_ milliseconds: CInt) -> Int {
    ready.removeAll(keepingCapacity: true)
    guard unsafe directdns_poll(&watched, CInt(watched.count), milliseconds) > 0 else { return 0 }
    // Anything else is an error or an end: it is there to be read, and to be run into by writing.
    let known = Int16(CURL_WAIT_POLLIN | CURL_WAIT_POLLOUT)
    for watch in watched where watch.revents != 0 {
      var interest: CurlEvents.Interest = []
      if watch.revents & (Int16(CURL_WAIT_POLLIN) | ~known) != 0 { interest.insert(.reading) }
      if watch.revents & (Int16(CURL_WAIT_POLLOUT) | ~known) != 0 { interest.insert(.writing) }
      ready.append((watch.fd, interest))
    }
    return ready.count
  }

  func event(_ index: Int) -> (descriptor: CInt, ready: CurlEvents.Interest) { ready[index] }
}
