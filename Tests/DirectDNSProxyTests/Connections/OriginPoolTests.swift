// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import NIOCore
import NIOEmbedded
import Testing

@testable import DirectDNSProxy

@Suite("Connections that wait for the next request")
struct OriginPoolTests {
  @Test func `one that has waited for long is for requests that can be sent once more alone`() throws {
    let loop = EmbeddedEventLoop()
    let (pool, handler) = (OriginPool(), OriginHandler())
    let (origin, address) = (ForwardOrigin(.name("a.test"), port: 80), IPAddress.ipv4(0x7f00_0001))
    let channel = EmbeddedChannel(handler: handler, loop: loop)
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
    handler.established(to: address)
    pool.put(handler, for: origin, ProxyLimits())
    let route = ChosenRoute(addresses: [address])
    #expect(pool.take(origin, route, .direct, .recent, at: handler.idleSince + .seconds(1)) == nil)
    #expect(pool.take(origin, route, .direct, .any, at: handler.idleSince + .seconds(1)) === handler)
    pool.put(handler, for: origin, ProxyLimits())
    #expect(pool.take(origin, route, .direct, .own, at: handler.idleSince) == nil)
    #expect(pool.take(origin, route, .direct, .recent, at: handler.idleSince + .milliseconds(999)) === handler)
    _ = try channel.finish(acceptAlreadyClosed: true)
    loop.run()
  }

  @Test func `one that is a client's alone waits for it as long as it stays, and for any request`() throws {
    let (loop, now) = (EmbeddedEventLoop(), NIODeadline.now())
    let (pool, handler) = (OriginPool(), OriginHandler())
    let (origin, address) = (ForwardOrigin(.name("a.test"), port: 80), IPAddress.ipv4(0x7f00_0001))
    let channel = EmbeddedChannel(handler: handler, loop: loop)
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
    handler.established(to: address)
    handler.isConnectionAuthenticated = true
    let (route, limits, late) = (ChosenRoute(addresses: [address]), ProxyLimits(), now + .minutes(30))
    pool.put(handler, for: origin, limits, at: late)
    #expect(handler.idleEnd == late + .seconds(75))
    pool.closeIdle(at: late + .seconds(70))
    #expect(pool.take(origin, route, .direct, .own, at: late + .seconds(70)) === handler)
    pool.put(handler, for: origin, limits, at: late)
    // An address that the name has no more, or that is forbidden by now.
    #expect(pool.take(origin, ChosenRoute(addresses: [.ipv4(1)]), .direct, .own, at: late) == nil)
    #expect(!channel.isActive)
    _ = try channel.finish(acceptAlreadyClosed: true)
    loop.run()
  }

  @Test func `so many wait, to whatever origins, and the one that has waited longest goes for another`() throws {
    let (loop, now) = (EmbeddedEventLoop(), NIODeadline.now())
    let pool = OriginPool()
    var channels: [EmbeddedChannel] = []
    for number in 0...OriginPool.limit {
      let handler = OriginHandler()
      let channel = EmbeddedChannel(handler: handler, loop: loop)
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
      channels.append(channel)
      let origin = ForwardOrigin(.name("\(number).test"), port: 80)
      pool.put(handler, for: origin, ProxyLimits(), at: now + .milliseconds(Int64(number)))
    }
    #expect(pool.count == OriginPool.limit)
    #expect(!channels[0].isActive && channels[1...].allSatisfy(\.isActive))
    pool.closeAll()
    #expect(pool.count == 0)
    for channel in channels { _ = try channel.finish(acceptAlreadyClosed: true) }
    loop.run()
  }

  @Test func `one that has waited for long is not taken in place of a younger one that will not do`() throws {
    let (loop, now) = (EmbeddedEventLoop(), NIODeadline.now())
    let (pool, older, younger) = (OriginPool(), OriginHandler(), OriginHandler())
    let (origin, address) = (ForwardOrigin(.name("a.test"), port: 80), IPAddress.ipv4(0x7f00_0001))
    var channels: [EmbeddedChannel] = []
    for handler in [older, younger] {
      let channel = EmbeddedChannel(handler: handler, loop: loop)
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
      handler.established(to: address)
      pool.put(handler, for: origin, ProxyLimits())
      channels.append(channel)
    }
    older.wait(in: pool, as: origin, since: now - .seconds(2), for: .seconds(15))
    younger.hop = .tunnel(try UpstreamProxy("http://proxy.test"))
    let route = ChosenRoute(addresses: [address])
    #expect(pool.take(origin, route, .direct, .recent, at: now) == nil)
    #expect(pool.take(origin, route, .direct, .any, at: now) === older)
    // It stays for the requests that it can serve.
    #expect(pool.take(origin, route, younger.hop, .any, at: now) === younger && pool.count == 0)
    for channel in channels { _ = try channel.finish(acceptAlreadyClosed: true) }
    loop.run()
  }

  /// What is at hand of a pool: everybody's connections to one address.
  private struct Waiting {
    let loop = EmbeddedEventLoop()
    let pool = OriginPool()
    let origin = ForwardOrigin(.name("a.test"), port: 80)
    let route = ChosenRoute(addresses: [.ipv4(0x7f00_0001)])
    let handlers: [OriginHandler]
    let channels: [EmbeddedChannel]

    init(_ count: Int) throws {
      let loop = loop
      let handlers = (0..<count).map { _ in OriginHandler() }
      self.handlers = handlers
      channels = try handlers.map { handler in
        let channel = EmbeddedChannel(handler: handler, loop: loop)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        handler.established(to: .ipv4(0x7f00_0001))
        return channel
      }
    }

    func end() throws {
      for channel in channels { _ = try channel.finish(acceptAlreadyClosed: true) }
      loop.run()
    }
  }

  @Test func `everybody's serves no request once it is ten minutes old, so that a name's new addresses count`() throws {
    let waiting = try Waiting(1)
    let (pool, handler, limits) = (waiting.pool, waiting.handlers[0], ProxyLimits())
    let end = handler.connected + .minutes(10)
    pool.put(handler, for: waiting.origin, limits, at: end - .nanoseconds(1))
    #expect(pool.take(waiting.origin, waiting.route, .direct, .any, at: end) === handler)
    #expect(waiting.channels[0].isActive)
    pool.put(handler, for: waiting.origin, limits, at: end)
    #expect(pool.count == 0 && !waiting.channels[0].isActive)
    try waiting.end()
  }

  @Test func `it waits as long as the limit says, and not a moment longer`() throws {
    let waiting = try Waiting(1)
    let (pool, now) = (waiting.pool, NIODeadline.now())
    pool.put(waiting.handlers[0], for: waiting.origin, ProxyLimits(poolTimeout: .seconds(9)), at: now)
    pool.closeIdle(at: now + .seconds(9) - .nanoseconds(1))
    #expect(pool.count == 1 && waiting.channels[0].isActive)
    pool.closeIdle(at: now + .seconds(9))
    #expect(pool.count == 0 && !waiting.channels[0].isActive)
    try waiting.end()
  }

  @Test(arguments: [
    (ProxyLimits(pooledConnections: 2), [false, true, true]), (ProxyLimits(pooledConnections: 3), [true, true, true]),
    (ProxyLimits(pooledConnections: 0), [false, false, false]),
    (ProxyLimits(poolTimeout: .zero), [false, false, false]),
  ])
  func `so many wait to one origin, and the one that has waited longest goes`(
    limits: ProxyLimits, areOpen: [Bool]
  ) throws {
    let waiting = try Waiting(areOpen.count)
    for handler in waiting.handlers { waiting.pool.put(handler, for: waiting.origin, limits) }
    #expect(waiting.channels.map(\.isActive) == areOpen && waiting.pool.count == areOpen.count { $0 })
    try waiting.end()
  }

  @Test func `it is closed, and not taken, where the name has its address no more`() throws {
    let waiting = try Waiting(2)
    let pool = waiting.pool
    for handler in waiting.handlers { pool.put(handler, for: waiting.origin, ProxyLimits()) }
    waiting.handlers[1].established(to: .ipv4(0x7f00_0002))
    #expect(pool.take(waiting.origin, waiting.route, .direct, .any) === waiting.handlers[0])
    #expect(pool.count == 0 && waiting.channels.map(\.isActive) == [true, false])
    try waiting.end()
  }
}
