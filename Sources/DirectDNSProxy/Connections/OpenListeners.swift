// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore
internal import NIOPosix

/// The listeners of a proxy while it runs.
///
/// SwiftNIO closes a listener when accept(2) fails, unless that says that files are lacking or that the client has
/// gone. But accept(2) also hands on errors of the network and of a firewall, which are about one client. SwiftNIO
/// closes one, too, that the kernel refuses to watch. Such a listener is opened again at the same place.
final class OpenListeners: Sendable {
  private struct State {
    var opened: [ProxyListener.Opened] = []
    var lastNotice: NIODeadline?
    /// Whether the last notice says that one could not be opened.
    var endsInFailure = false
  }

  private let state = Locked(State())
  /// Opening one again and closing all of them wait for one another.
  private let turns = Turns()
  private let pause: TimeAmount
  private let notice: @Sendable (String) -> Void
  private let bootstrap: @Sendable () -> ServerBootstrap

  /// Creates none yet.
  ///
  /// - Parameters:
  ///   - pause: the shortest time from one opening to the next at a place: the errors may come with every client.
  ///   - notice: called when one was opened again or could not be, at most once a minute; but always when one was
  ///     behind the notice that it could not be.
  ///   - bootstrap: makes what serves those who connect.
  init(
    pause: TimeAmount = AcceptPause.interval, notice: @escaping @Sendable (String) -> Void,
    bootstrap: @escaping @Sendable () -> ServerBootstrap
  ) {
    self.pause = pause
    self.notice = notice
    self.bootstrap = bootstrap
  }

  /// Those that are open.
  var opened: [ProxyListener.Opened] { state.withLock(\.opened) }

  /// Where they listen, with the ports that were chosen.
  var places: [ListenAddress] { opened.map(\.place) }

  /// Begins to listen; nobody is accepted yet.
  ///
  /// - Returns: where it listens.
  /// - Throws: as ``ProxyListener/opened(by:)``.
  func open(_ listener: ProxyListener) async throws(DirectDNSError) -> ListenAddress {
    let opened = try await listener.opened(by: bootstrap())
    state.withLock { $0.opened.append(opened) }
    return opened.place
  }

  /// Accepts clients from now on.
  func accept() {
    for listener in opened { accept(listener) }
  }

  private func accept(_ listener: ProxyListener.Opened) {
    let channel = listener.channel
    let next = NIODeadline.now() + pause
    channel.closeFuture.whenComplete { [self] _ in ended(channel, next) }
    channel.setOption(.autoRead, value: true).whenFailure { _ in }
  }

  /// A listener has been closed, by ``close()`` or by SwiftNIO.
  private func ended(_ channel: any Channel, _ next: NIODeadline) {
    let isLost = state.withLock { state in
      guard let place = state.opened.firstIndex(where: { $0.channel === channel }) else { return false }
      // Another program may have a file of the same number there from now on.
      let file = state.opened[place].file.take()
      state.opened[place].access = file?.access
      return true
    }
    if isLost { openAgain(channel, at: next) }
  }

  private func openAgain(_ channel: any Channel, at next: NIODeadline) {
    channel.eventLoop.scheduleTask(deadline: next) { [self] in _ = Task { await openAgain(channel) } }
  }

  private func openAgain(_ channel: any Channel) async {
    await turns.take()
    defer { turns.leave() }
    guard let lost = opened.first(where: { $0.channel === channel }) else { return }
    do throws(DirectDNSError) {
      let listener = try await lost.successor.opened(by: bootstrap())
      state.withLock { $0.opened = $0.opened.map { $0.channel === channel ? listener : $0 } }
      lost.closeSpare()
      accept(listener)
      say(
        "\(listener.place): the proxy listens there again. Accepting a client, or watching its socket, had failed.",
        isFailure: false)
    } catch {
      say(error.message, isFailure: true)
      openAgain(channel, at: .now() + pause)
    }
  }

  private func say(_ text: String, isFailure: Bool) {
    let now = NIODeadline.now()
    let isDue = state.withLock { state in
      let isNews = state.endsInFailure && !isFailure
      if !isNews, let last = state.lastNotice, now - last < AcceptPause.silence { return false }
      state.lastNotice = now
      state.endsInFailure = isFailure
      return true
    }
    if isDue { notice(text) }
  }

  /// Closes all of them for good: when this returns nothing listens.
  func close() async {
    await turns.take()
    defer { turns.leave() }
    let closed = state.withLock { state in
      defer { state.opened = [] }
      return state.opened
    }
    // First, while nobody else takes the paths over: once these sockets are closed another process may, and many file
    // systems give its file the number of ours at once.
    for listener in closed { listener.file?.remove() }
    for listener in closed {
      listener.closeSpare()
      try? await listener.channel.close()
    }
  }
}
