internal import CDirectDNSCurl

/// A loop's thread: takes commands, performs transfers, waits.
struct CurlThread<Driver: CurlDriver>: ~Copyable {
  private let mailbox: CurlMailbox<Driver>

  init(mailbox: CurlMailbox<Driver>) { self.mailbox = mailbox }

  consuming func run() {
    guard let multi = mailbox.multi else { return }
    let driver = Driver(mailbox.settings, multi: multi)
    var commands: [Driver.Command] = []
    var isQuiet = false
    while true {
      let isStopped = mailbox.take(into: &commands)
      for command in commands { driver.carryOut(command) }
      commands.removeAll(keepingCapacity: true)
      if isStopped { break }
      perform(multi, driver)
      reap(multi, driver)
      let patience = driver.settle()
      let limit = !driver.isBusy || isQuiet ? patience : min(patience, CurlPatience.secondLook)
      let quietFrom = CurlTime.now + limit
      var ready: Int32 = 0
      unsafe curl_multi_poll(multi.handle, nil, 0, Int32(clamping: limit), &ready)
      isQuiet = ready == 0 && CurlTime.now >= quietFrom
    }
    driver.stop()
    mailbox.close()
    // A connection outlives its handle, and tells the driver's sockets of its end.
    withExtendedLifetime(driver) { unsafe _ = curl_multi_cleanup(multi.handle) }
  }

  private func perform(_ multi: CurlMulti, _ driver: Driver) {
    var count: Int32 = 0
    let isBatch = driver.takeStartCount() > 1
    if isBatch { driver.sockets.cork(true) }
    unsafe _ = curl_multi_perform(multi.handle, &count)
    if isBatch { driver.sockets.cork(false) }
  }

  private func reap(_ multi: CurlMulti, _ driver: Driver) {
    var left: Int32 = 0
    while let message = unsafe curl_multi_info_read(multi.handle, &left) {
      guard unsafe message.pointee.msg == CURLMSG_DONE, let handle = unsafe message.pointee.easy_handle else {
        continue
      }
      unsafe driver.ended(handle, message.pointee.data.result)
    }
  }
}

enum CurlPatience {
  /// After so many milliseconds without an event, running transfers are looked at once more.
  ///
  /// A transfer that reads another one's response wakes it by a timer that is due at once. Before 8.16 libcurl can
  /// drop such timers unserved: `curl_multi_perform` drops what is due when it ends, by a clock that starting a
  /// transfer has set forward (curl#17883 did away with them). The response then lies in libcurl's own buffer, and
  /// its socket has nothing more to say.
  static let secondLook: Int64 = 5
}
