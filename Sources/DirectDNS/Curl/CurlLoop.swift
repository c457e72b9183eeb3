// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// The one thread that owns multi handles and every transfer on them; a driver says what is done with them.
///
/// Others post to its mailbox. The thread begins with the first command. Dropping the loop ends it, and with it the
/// transfers that still run.
final class CurlLoop<Driver: CurlDriver>: Sendable {
  private let mailbox: CurlMailbox<Driver>
  /// Runs tasks on the thread.
  let executor: CurlExecutor<Driver>

  init(_ settings: Driver.Settings) {
    mailbox = CurlMailbox(settings)
    executor = CurlExecutor(mailbox)
  }

  deinit { mailbox.stop() }

  /// Leaves a command for the thread.
  ///
  /// - Returns: whether it will be carried out; a loop that was stopped takes none.
  func post(_ command: Driver.Command) -> Bool { mailbox.post(command) }

  /// Ends every transfer and the thread.
  func stop() { mailbox.stop() }
}

/// What is done with the transfers of a loop; its thread alone makes it and uses it.
protocol CurlDriver: AnyObject, SendableMetatype {
  /// What it is made of.
  associatedtype Settings: Sendable
  /// What others ask of it.
  associatedtype Command: Sendable

  init(_ settings: Settings, multi: CurlMulti)

  /// The present, by ``CurlTime``: read once when the thread wakes up, since a turn is short.
  var now: Int64 { get set }

  /// Whether tasks run on the thread, too: set before the first one does.
  var runsTasks: Bool { get set }

  /// The handles of its transfers: the one that it was given, and others that it made.
  var multis: [CurlMulti] { get }

  /// Carries out a command.
  func carryOut(_ command: Command)

  /// The sockets that several of the transfers which were started since it was asked last will go out on.
  func takeCrowdedSockets() -> [curl_socket_t]

  /// Takes back a handle whose transfer has ended.
  func ended(_ handle: UnsafeMutableRawPointer, _ code: CURLcode)

  /// Does what is due, after transfers went on.
  ///
  /// - Returns: the instant before which nothing will be due.
  func settle() -> Int64

  /// Whether transfers run.
  var isBusy: Bool { get }

  /// Ends everything; nothing is asked of it afterwards.
  func stop()
}

/// The time that the loops go by: the machine's monotonic clock, in milliseconds.
enum CurlTime {
  static var now: Int64 { milliseconds(SystemClock().now) }

  /// An instant of the machine's clock on that time line.
  static func milliseconds(_ instant: ResolverInstant) -> Int64 { instant.nanoseconds / 1_000_000 }
}
