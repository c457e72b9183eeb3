// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import Dispatch
internal import NIOCore

/// What the connections of one event loop share; used on its thread alone.
final class ProxyLoop {
  let eventLoop: any EventLoop
  let shared: ProxyShared
  let pool: OriginPool
  private var clients: [ObjectIdentifier: ClientHandler] = [:]
  private var sweep: RepeatedTask?

  init(_ eventLoop: any EventLoop, _ shared: ProxyShared) {
    self.eventLoop = eventLoop
    self.shared = shared
    pool = OriginPool(eventLoop)
  }

  var settings: ProxySettings { shared.settings }

  /// Begins to look after times; once a second is enough for what is counted in seconds, and costs a silent tunnel nothing.
  func start() {
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    sweep = eventLoop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
      bound.value.timePassed(.now())
    }
  }

  private func timePassed(_ now: NIODeadline) {
    pool.closeIdle(at: now)
    for client in clients.values { client.timePassed(now) }
  }

  func add(_ client: ClientHandler) { clients[ObjectIdentifier(client)] = client }

  func remove(_ client: ClientHandler) { clients[ObjectIdentifier(client)] = nil }

  /// Ends what waits for nothing; requests and tunnels under way may end by themselves.
  func drain() {
    pool.closeAll()
    for client in clients.values { client.drain() }
  }

  /// Ends everything.
  func stop() {
    sweep?.cancel()
    pool.closeAll()
    for client in clients.values { client.abort() }
  }
}

/// What all loops of a proxy share.
final class ProxyShared: Sendable {
  let resolver: DirectResolver
  let telemetry: ProxyTelemetry
  /// Where passwords are checked: their hashes are made to be slow.
  let passwords = DispatchQueue(label: "directdns.proxy.passwords", attributes: .concurrent)
  /// The addresses of this machine, when the proxy was made.
  let machine: Set<IPAddress>
  private let state: Locked<State>

  private struct State {
    var settings: ProxySettings
    var places: [ListenAddress] = []
    var isDraining = false
    var clients = 0
  }

  init(_ resolver: DirectResolver, _ settings: ProxySettings) {
    self.resolver = resolver
    telemetry = ProxyTelemetry()
    machine = Set(((try? System.enumerateDevices()) ?? []).compactMap { $0.address?.ipAddressValue })
    state = Locked(State(settings: settings))
  }

  var settings: ProxySettings { state.withLock(\.settings) }

  func update(_ settings: ProxySettings) { state.withLock { $0.settings = settings } }

  /// Where it listens by now, with the ports that were chosen.
  var places: [ListenAddress] {
    get { state.withLock(\.places) }
    set { state.withLock { $0.places = newValue } }
  }

  var isDraining: Bool { state.withLock(\.isDraining) }

  func drain() { state.withLock { $0.isDraining = true } }

  /// Counts a client in; false where there is no room for it.
  func enter() -> Bool {
    state.withLock { state in
      guard state.clients < state.settings.configuration.limits.clients else { return false }
      state.clients += 1
      return true
    }
  }

  func leave() { state.withLock { $0.clients -= 1 } }

  var clientCount: Int { state.withLock(\.clients) }

  /// A request or a tunnel has ended.
  func ended(_ access: ProxyAccess) {
    telemetry.ended(access)
    settings.configuration.accessLog?(access)
  }
}

/// A configuration in the form that connections need it in; a class, since each request looks at it.
final class ProxySettings: Sendable {
  let configuration: ProxyConfiguration

  init(_ configuration: ProxyConfiguration) { self.configuration = configuration }

  var policy: AddressPolicy { configuration.policy }
  var limits: ProxyLimits { configuration.limits }
}
