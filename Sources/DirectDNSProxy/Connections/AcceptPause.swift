// SPDX-License-Identifier: Apache-2.0
internal import NIOCore

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Stops accepting while the process has no file descriptor left, until a connection ends.
///
/// Connections to origins that wait for a request are given up first.
///
/// A listening socket stays readable while a client waits: without the pause the event loop would spin at full speed
/// until a connection ends.
final class AcceptPause: ChannelInboundHandler {
  typealias InboundIn = any Channel

  /// Accepting is tried again after this time too, since descriptors that are not connections are closed without
  /// notice.
  static let interval = TimeAmount.seconds(1)

  /// How long it says nothing more of the lack of descriptors: under load they come and go with every client.
  static let silence = TimeAmount.minutes(1)

  private let clients: LimitedCount
  private let release: (@escaping @Sendable (Int) -> Void) -> Void
  private let notice: (String) -> Void
  private var timer: Scheduled<Void>?
  private var lastNotice: NIODeadline?
  private var awaitsClient = false
  /// For other loops, which tell that a client has left or what they have closed: the listener's may end before them.
  private var entrance: LoopEntrance?

  /// Weak references for the callbacks, which must not keep a closed listener alive.
  private struct Waiting {
    weak var pause: AcceptPause?
    weak var channel: (any Channel)?

    func resume(becauseOneLeft: Bool) {
      if becauseOneLeft { pause?.awaitsClient = false }
      guard let pause, let channel else { return }
      pause.resume(channel)
    }

    func released(_ count: Int, at now: NIODeadline) {
      count > 0 ? resume(becauseOneLeft: false) : pause?.say(at: now)
    }
  }

  /// - Parameters:
  ///   - clients: tells when a client leaves.
  ///   - release: closes what holds descriptors and is not in use, and then says how many that were, on any thread.
  ///   - notice: called when no descriptor is left, and once a minute while that happens.
  init(
    _ clients: LimitedCount, release: @escaping (@escaping @Sendable (Int) -> Void) -> Void,
    notice: @escaping (String) -> Void
  ) {
    self.clients = clients
    self.release = release
    self.notice = notice
  }

  func handlerAdded(context: ChannelHandlerContext) { entrance = LoopEntrance(context.eventLoop) }

  func handlerRemoved(context: ChannelHandlerContext) {
    timer?.cancel()
    entrance?.close()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let code = (error as? IOError)?.errnoCode, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code) else {
      return context.fireErrorCaught(error)
    }
    guard timer == nil, let entrance else { return }
    // SwiftNIO keeps a failed read pending: not asking for the next one would not stop it.
    accepts(false, context.channel)
    let eventLoop = context.eventLoop
    let waiting = NIOLoopBound(Waiting(pause: self, channel: context.channel), eventLoop: eventLoop)
    if !awaitsClient {
      awaitsClient = true
      clients.whenOneLeaves { entrance.execute { waiting.value.resume(becauseOneLeft: true) } }
    }
    timer = eventLoop.scheduleTask(in: Self.interval) { waiting.value.resume(becauseOneLeft: false) }
    release { count in entrance.execute { waiting.value.released(count, at: eventLoop.now) } }
  }

  private func say(at now: NIODeadline) {
    if let lastNotice, now - lastNotice < Self.silence { return }
    lastNotice = now
    notice(
      "No file is left for another connection: clients (\(clients.value) connected) and their connections to origins hold them, and others wait until one goes. Raise the limit (ulimit -n, LimitNOFILE=), or have fewer clients than half of it (dnsctl: --max-clients)."
    )
  }

  private func resume(_ channel: any Channel) {
    guard let timer else { return }
    timer.cancel()
    self.timer = nil
    accepts(true, channel)
  }

  private func accepts(_ isOn: Bool, _ channel: any Channel) {
    // It fails if the listener is closed by now, which accepts nothing anyway.
    try? channel.syncOptions?.setOption(.autoRead, value: isOn)
  }
}
