// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore
internal import NIOPosix
internal import Tracing

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Opens one connection: the race of a name's addresses (RFC 8305), on one event loop.
///
/// ``ConnectionRace`` decides which address is tried when; this opens and closes.
final class Dialer: Connector {
  /// The result.
  enum Outcome {
    case connected(OriginHandler)
    case failed(ProxyRefusal)
  }

  struct ConnectAttempt {
    let address: IPAddress
    let began: NIODeadline
    var channel: (any Channel)?
    var handler: OriginHandler?
    var upstream: UpstreamConnection?

    var isRunning: Bool { channel != nil || upstream != nil }
  }

  let loop: ProxyLoop
  private let settings: ProxySettings
  let origin: ForwardOrigin
  let upstream: UpstreamProxy?
  private let policy: AddressPolicy
  private let deadline: NIODeadline
  let others: OtherFamily?
  private let via: ProxyVia
  private let context: ServiceContext?
  var race: ConnectionRace
  var attempts: [ConnectAttempt] = []
  var failures: [(address: IPAddress, failure: ConnectFailure)] = []
  private var timer: Scheduled<Void>?
  /// Whether idle connections were given up for it already.
  var hasMadeRoom = false
  private(set) var completion: ((Outcome) -> Void)?
  /// The address that was connected to, as it was found: that of the connection may be another one, as with 0.0.0.0.
  private(set) var winner: IPAddress?

  /// Creates one.
  ///
  /// - Parameters:
  ///   - loop: where it runs.
  ///   - settings: the settings of the request.
  ///   - origin: what to connect to.
  ///   - route: the allowed addresses, at least one, and the other proxy to go through, if any.
  ///   - policy: checks the address that was connected to.
  init(
    _ loop: ProxyLoop, _ settings: ProxySettings, _ origin: ForwardOrigin, _ route: ChosenRoute, _ policy: AddressPolicy
  ) {
    self.loop = loop
    self.settings = settings
    self.origin = origin
    self.policy = policy
    upstream = route.upstream
    others = route.others
    via = route.via.adding(loop.shared.mark)
    context = route.context
    deadline = .now() + TimeAmount(settings.limits.connectTimeout)
    race = ConnectionRace(ConnectionRace.interleaved(route.addresses), delay: 250, hasOthers: others != nil)
  }

  /// Begins; the completion is called once, unless it is cancelled.
  func start(_ completion: @escaping (Outcome) -> Void) {
    self.completion = completion
    step()
  }

  /// Gives up; the completion is not called.
  func cancel() {
    completion = nil
    end()
  }

  private static func milliseconds(_ instant: NIODeadline) -> Int64 { Int64(instant.uptimeNanoseconds / 1_000_000) }

  func step() {
    guard completion != nil else { return }
    let now = NIODeadline.now()
    guard now < deadline else { return fail(isLate: true) }
    while true {
      switch race.step(at: Self.milliseconds(now)) {
      case .start(let address, let number): connect(to: address, number)
      case .wait(let instant): return wait(until: .uptimeNanoseconds(UInt64(instant) * 1_000_000))
      case .rest: return wait(until: deadline)
      case .ask: ask()
      case .lost: return fail(isLate: false)
      }
      guard completion != nil else { return }
    }
  }

  /// Gets the other family's addresses, which join the race as soon as they are known.
  private func ask() {
    let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
    others?.setReceiver { [entrance = loop.entrance] found in
      entrance.execute {
        bound.value.add(found)
        bound.value.step()
      }
    }
    if let found = others?.ask() { add(found) }
  }

  private func add(_ found: [IPAddress]) { race.add((try? policy.allowed(found, for: origin.host)) ?? []) }

  private func wait(until instant: NIODeadline) {
    timer?.cancel()
    let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
    timer = loop.eventLoop.scheduleTask(deadline: min(instant, deadline)) { bound.value.step() }
  }

  private func connect(to address: IPAddress, _ number: Int) {
    attempts.append(ConnectAttempt(address: address, began: .now()))
    // A request to the proxy itself would loop for ever. An address that this machine got since it started is noticed
    // once it is connected to.
    let machine = loop.shared.machine
    guard !settings.places.contains(where: { $0.leads(from: address, port: origin.port, machine: machine) }) else {
      race.failed(number)
      return failures.append((address, ConnectFailure(Self.loopRefusal)))
    }
    if let upstream { ask(upstream, for: address, number) } else { open(address, number) }
  }

  func open(_ address: IPAddress, _ number: Int) {
    let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
    guard let target = try? SocketAddress(packedIPAddress: ByteBuffer(bytes: address.bytes), port: Int(origin.port))
    else { return failed(number, IOError(errnoCode: EAFNOSUPPORT, reason: "connect")) }
    ClientBootstrap(group: loop.eventLoop)
      // The race has its own timeouts.
      .connectTimeout(.hours(1))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let handler = OriginHandler()
          bound.value.attempts[number].channel = channel
          bound.value.attempts[number].handler = handler
          try channel.carry(by: handler)
        }
      }
      .connect(to: target)
      .assumeIsolated()
      .whenComplete { [self] result in
        switch result {
        case .success(let channel): connected(number, channel)
        case .failure(let error): failed(number, error)
        }
      }
  }

  /// Asks the other proxy to connect to an address.
  private func ask(_ upstream: UpstreamProxy, for address: IPAddress, _ number: Int) {
    let connection = UpstreamConnection(
      loop, settings, upstream, to: ForwardOrigin(.address(address), port: origin.port), via: via, below: context)
    attempts[number].upstream = connection
    connection.start { [self] outcome in
      attempts[number].upstream = nil
      switch outcome {
      case .connected(let handler):
        guard race.connected(number), completion != nil else { return handler.close() }
        handler.established(to: address)
        finish(.connected(handler))
      // Another address would fail in the same way. What the proxy has been asked for already, it may still do.
      case .failed(let refusal) where !connection.isAboutTarget && !attempts.contains(where: \.isRunning):
        finish(.failed(refusal))
      case .failed(let refusal): failed(number, refusal)
      }
    }
  }

  /// The proxy itself is at an address.
  private static let loopRefusal = ProxyRefusal(403, "proxy_loop_detected", "this proxy itself listens there")

  /// The address that a connection really leads to, whichever was asked for.
  ///
  /// - Throws: why the connection may not be used.
  func peer(of channel: any Channel) throws -> IPAddress {
    // getpeername(2) knows none any more once the other side has reset the connection.
    guard let real = channel.remoteAddress?.ipAddressValue else {
      throw IOError(errnoCode: ECONNRESET, reason: "connect")
    }
    guard policy.objection(to: real, host: origin.host) == nil else {
      throw IOError(errnoCode: EACCES, reason: "connect")
    }
    // The machine may have got the address since the proxy started.
    if let local = channel.localAddress?.ipAddressValue,
      settings.places.contains(where: { $0.isReached(from: local, to: real, port: origin.port) })
    {
      throw Self.loopRefusal
    }
    return real
  }

  private func connected(_ number: Int, _ channel: any Channel) {
    let attempt = attempts[number]
    let real: IPAddress
    do { real = try peer(of: channel) } catch {
      channel.close(promise: nil)
      return failed(number, error)
    }
    guard race.connected(number), completion != nil, let handler = attempt.handler else {
      return channel.close(promise: nil)
    }
    let resolver = loop.shared.resolver
    let now = NIODeadline.now()
    if case .name = origin.host {
      resolver.report(.connected(in: Duration(now - attempt.began)), for: attempt.address)
      for loser in attempts where loser.channel != nil && loser.address != attempt.address {
        resolver.report(.slower(than: Duration(now - loser.began)), for: loser.address)
      }
    }
    attempts[number].channel = nil
    winner = attempt.address
    handler.established(to: real)
    finish(.connected(handler))
  }

  func finish(_ outcome: Outcome) {
    guard let completion else { return }
    self.completion = nil
    end()
    completion(outcome)
  }

  private func end() {
    timer?.cancel()
    timer = nil
    others?.cancel()
    for attempt in attempts {
      attempt.channel?.close(promise: nil)
      attempt.upstream?.cancel()
    }
    attempts = attempts.map { ConnectAttempt(address: $0.address, began: $0.began) }
  }
}
