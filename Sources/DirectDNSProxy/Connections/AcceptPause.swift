// SPDX-License-Identifier: Apache-2.0
internal import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Accepts nothing more while the process has no file left, and goes on as soon as a connection has ended.
///
/// A socket with a client that cannot be accepted stays readable: without this the event loop would turn round at full
/// speed until somebody goes.
final class AcceptPause: ChannelInboundHandler {
  typealias InboundIn = any Channel

  /// Other things than our connections use files, and nobody tells when they are done.
  static let interval = TimeAmount.seconds(1)

  private let clients: LimitedCount
  private let notice: (String) -> Void
  private var timer: Scheduled<Void>?
  private var hasSaidSo = false
  private var isToldOfClients = false

  /// What others hold of it: a listener that ends while it waits is held by nobody.
  private struct Waiting {
    weak var pause: AcceptPause?
    weak var channel: (any Channel)?

    func goOn(becauseOneLeft: Bool) {
      if becauseOneLeft { pause?.isToldOfClients = false }
      guard let pause, let channel else { return }
      pause.goOn(channel)
    }
  }

  /// - Parameters:
  ///   - clients: says when one goes.
  ///   - notice: is told when no file is left, once until there are some again.
  init(_ clients: LimitedCount, notice: @escaping (String) -> Void) {
    self.clients = clients
    self.notice = notice
  }

  func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // There are files again: the next time is worth a line of its own.
    hasSaidSo = false
    context.fireChannelRead(data)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let code = (error as? IOError)?.errnoCode, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code) else {
      return context.fireErrorCaught(error)
    }
    guard timer == nil else { return }
    // SwiftNIO keeps a read pending that has failed: not to ask for the next one would not stop it.
    accepts(false, context.channel)
    if !hasSaidSo {
      hasSaidSo = true
      notice(
        "No file is left for another connection: clients wait until one of the \(clients.value) that are connected goes. Raise the limit (ulimit -n, LimitNOFILE=)."
      )
    }
    let eventLoop = context.eventLoop
    let waiting = NIOLoopBound(Waiting(pause: self, channel: context.channel), eventLoop: eventLoop)
    if !isToldOfClients {
      isToldOfClients = true
      clients.whenOneLeaves { eventLoop.execute { waiting.value.goOn(becauseOneLeft: true) } }
    }
    timer = eventLoop.scheduleTask(in: Self.interval) { waiting.value.goOn(becauseOneLeft: false) }
  }

  private func goOn(_ channel: any Channel) {
    guard let timer else { return }
    timer.cancel()
    self.timer = nil
    accepts(true, channel)
  }

  private func accepts(_ isOn: Bool, _ channel: any Channel) {
    // A listener that is closed by now accepts nothing, whatever it is told.
    try? channel.syncOptions?.setOption(.autoRead, value: isOn)
  }
}
