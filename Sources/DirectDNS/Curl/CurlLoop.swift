internal import CDirectDNSCurl
internal import Dispatch

/// The one thread that owns a multi handle and every transfer on it; a driver says what is done with them.
///
/// Others post to its mailbox. The thread begins with the first command. Dropping the loop ends it, and with it the
/// transfers that still run.
final class CurlLoop<Driver: CurlDriver>: Sendable {
  private let mailbox: CurlMailbox<Driver>

  init(_ settings: Driver.Settings) { mailbox = CurlMailbox(settings) }

  deinit { mailbox.stop() }

  /// Leaves a command for the thread.
  ///
  /// - Returns: whether it will be carried out; a loop that was stopped takes none.
  func post(_ command: Driver.Command) -> Bool { mailbox.post(command) }

  /// Ends every transfer and the thread.
  func stop() { mailbox.stop() }
}

/// What is done with the transfers of a multi handle; the loop's thread alone makes it and uses it.
protocol CurlDriver: AnyObject, SendableMetatype {
  /// What it is made of.
  associatedtype Settings: Sendable
  /// What others ask of it.
  associatedtype Command: Sendable

  init(_ settings: Settings, multi: CurlMulti)

  /// Carries out a command.
  func carryOut(_ command: Command)

  /// Takes back a handle whose transfer has ended.
  func ended(_ handle: UnsafeMutableRawPointer, _ code: CURLcode)

  /// Does what is due, after transfers were performed.
  ///
  /// - Returns: for how many milliseconds nothing will be due.
  func settle() -> Int64

  /// Whether transfers run.
  var isBusy: Bool { get }

  /// The sockets of its connections.
  var sockets: CurlSockets { get }

  /// Transfers that were started since it was asked last.
  func takeStartCount() -> Int

  /// Ends everything; nothing is asked of it afterwards.
  func stop()
}

/// A multi handle, which belongs to its loop's thread.
@safe struct CurlMulti {
  let handle: UnsafeMutableRawPointer

  func add(_ easy: UnsafeMutableRawPointer) { unsafe _ = curl_multi_add_handle(handle, easy) }

  func remove(_ easy: UnsafeMutableRawPointer) { unsafe _ = curl_multi_remove_handle(handle, easy) }

  func set(_ option: CURLMoption, _ value: Int) { unsafe _ = directdns_multi_setopt_long(handle, option, value) }
}

/// The time that the loops go by: the machine's monotonic clock, in milliseconds.
enum CurlTime {
  static var now: Int64 { Int64(DispatchTime.now().uptimeNanoseconds / 1_000_000) }
}

/// What others leave for a loop's thread, and the means to wake it.
final class CurlMailbox<Driver: CurlDriver>: Sendable {
  private struct State {
    var commands: [Driver.Command] = []
    var hasThread = false
    var isStopped = false
  }

  let settings: Driver.Settings
  private let state = Locked(State())
  /// The thread's multi handle as bits, while the thread runs.
  ///
  /// Behind a lock of its own, so that the thread does not wake up to find its mailbox locked by who woke it.
  private let handle = Locked<UInt?>(nil)

  init(_ settings: Driver.Settings) { self.settings = settings }

  func post(_ command: Driver.Command) -> Bool {
    let waiting = state.withLock { state -> Int? in
      guard !state.isStopped, state.hasThread || startThread() else { return nil }
      state.hasThread = true
      state.commands.append(command)
      return state.commands.count
    }
    // Whoever posted before has woken the thread already.
    if waiting == 1 { wake() }
    return waiting != nil
  }

  func stop() {
    let hasThread = state.withLock { state in
      state.isStopped = true
      return state.hasThread
    }
    if hasThread { wake() }
  }

  private func startThread() -> Bool {
    guard CurlLibrary.isReady, let multi = unsafe curl_multi_init() else { return false }
    handle.withLock { $0 = UInt(bitPattern: multi) }
    WorkerThread.start("curl") { [self] in CurlThread(mailbox: self).run() }
    return true
  }

  private func wake() {
    handle.withLock { bits in
      guard let bits else { return }
      unsafe _ = curl_multi_wakeup(UnsafeMutableRawPointer(bitPattern: bits))
    }
  }

  /// The thread's own handle.
  var multi: CurlMulti? {
    handle.withLock { bits in
      unsafe bits.flatMap { unsafe UnsafeMutableRawPointer(bitPattern: $0) }.map { unsafe CurlMulti(handle: $0) }
    }
  }

  /// Takes what was left; true when there will be no more.
  func take(into commands: inout [Driver.Command]) -> Bool {
    state.withLock { state in
      swap(&state.commands, &commands)
      return state.isStopped
    }
  }

  /// Takes the handle away, so that nobody wakes a thread that is gone.
  func close() {
    handle.withLock { $0 = nil }
  }
}

/// libcurl's own initialisation: once per process, before anything else of it.
enum CurlLibrary {
  static let isReady: Bool = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
}
