// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import NIOCore
import NIOEmbedded
import NIOPosix
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

/// What follows when an address cannot be connected to, and what is told when none can.
extension DialerTests {
  /// A connection that waits for a request, of everybody or of a client that has logged in.
  enum Idle: CaseIterable { case none, shared, owned }

  @Test(arguments: Idle.allCases)
  func `where no file is left it is tried once more, if an idle connection could be closed`(
    idle: Idle
  ) async throws {
    let origin = try await RawListener.start()
    let resolver = try DirectResolver()
    defer { resolver.shutdown() }
    let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
    let settings = ProxySettings(ProxyConfiguration(policy: .any))
    let (shared, port) = (ProxyShared(resolver, settings), origin.port)
    let refusal = try await eventLoop.flatSubmit {
      let promise = eventLoop.makePromise(of: ProxyRefusal?.self)
      let loop = ProxyLoop(eventLoop, shared)
      shared.runs(on: [NIOLoopBound(loop, eventLoop: eventLoop)])
      let address = IPAddress.ipv4(0x7f00_0001)
      let (place, handler) = (ForwardOrigin(.name("idle.test"), port: 80), OriginHandler())
      let client = ClientHandler(loop)
      loop.add(client)
      handler.isConnectionAuthenticated = idle == .owned
      if idle != .none {
        client.pool(for: handler).put(handler, for: place, ProxyLimits(), at: .now() - OriginPool.recentAge)
      }
      let dialer = Dialer(
        loop, settings, ForwardOrigin(.address(address), port: port), ChosenRoute(addresses: [address]), .any)
      OpenFiles.withNone {
        dialer.start { outcome in
          // The two hold each other.
          loop.remove(client)
          switch outcome {
          case .connected(let handler):
            handler.close()
            promise.succeed(nil)
          case .failed(let refusal): promise.succeed(refusal)
          }
        }
      }
      return promise.futureResult
    }.get()
    shared.runs(on: [])
    if idle != .none {
      #expect(refusal == nil)
    } else {
      #expect(refusal?.status == 502 && refusal?.error == "proxy_internal_error")
      #expect(
        refusal?.message.hasSuffix(
          "raise its limit (ulimit -n); the files are held by clients (0 connected) and their connections to origins.")
          == true, "\(String(describing: refusal))")
    }
    await origin.stop()
  }

  @Test func `no client has to log in again while other connections can be closed`() throws {
    let resolver = try DirectResolver()
    defer { resolver.shutdown() }
    let (eventLoop, now, counts) = (EmbeddedEventLoop(), NIODeadline.now(), Watched<[Int]>([]))
    let shared = ProxyShared(resolver, ProxySettings(ProxyConfiguration()))
    let loop = ProxyLoop(eventLoop, shared)
    let client = ClientHandler(loop)
    loop.add(client)
    // The two hold each other.
    defer { loop.remove(client) }
    shared.runs(on: [NIOLoopBound(loop, eventLoop: eventLoop)])
    for (name, isOwned) in [("everybody.test", false), ("login.test", true)] {
      let handler = OriginHandler()
      handler.isConnectionAuthenticated = isOwned
      client.pool(for: handler).put(
        handler, for: ForwardOrigin(.name(name), port: 80), ProxyLimits(), at: now - OriginPool.recentAge)
    }
    for owned in [1, 0, 0] {
      shared.closeIdle { count in counts.change { $0.append(count) } }
      eventLoop.run()
      #expect(loop.pool.count == 0 && client.ownPool?.count == owned)
    }
    #expect(counts.value == [1, 1, 0])
    shared.runs(on: [])
    // In the middle of a login its next request is on its way.
    let handler = OriginHandler()
    handler.isConnectionAuthenticated = true
    client.pool(for: handler).put(handler, for: ForwardOrigin(.name("login.test"), port: 80), ProxyLimits(), at: now)
    #expect(loop.closeIdle(owned: true, at: now + OriginPool.recentAge - .nanoseconds(1)) == 0)
    #expect(loop.closeIdle(owned: true, at: now + OriginPool.recentAge) == 1)
  }

  @Test func `an address that was asked for is named once, and those of a name each`() async throws {
    let records = RecordTable { $0.add("own.test", "127.0.0.1") }
    let proxy = try await ProxyFixture(records: records) { $0.lookup.families = .ipv4 }
    for (host, words) in [("127.0.0.1", ": this proxy"), ("own.test", ". 127.0.0.1: this proxy")] {
      let client = try await proxy.client()
      try await client.send("CONNECT \(host):\(proxy.port) HTTP/1.1\r\n\r\n")
      let refusal = await client.receive("\r\n\r\n")
      let line = "HTTP/1.1 403 Forbidden: \(host):\(proxy.port) cannot be connected to\(words) itself listens there\r\n"
      #expect(refusal.hasPrefix(line), "\(refusal)")
      await client.close()
    }
    await proxy.stop()
  }

  @Test func `an upstream proxy that says nothing is named where the time is over`() async throws {
    let silent = try await RawListener.start()
    let upstream = try UpstreamProxy("http://127.0.0.1:\(silent.port)")
    let refusal = try await refusal(.ipv4(0xc000_0201), port: 443, through: upstream) {
      $0.limits.connectTimeout = .milliseconds(500)
    }
    #expect(refusal?.status == 504 && refusal?.error == "connection_timeout")
    #expect(
      refusal?.message
        == "public.test:443 cannot be connected to. 192.0.2.1: the upstream proxy \(upstream) has not connected to it in time."
    )
    await silent.stop()
  }

  @Test func `a loop is told as one also where another address of the name is silent`() async throws {
    let silent = try await RawListener.start()
    let upstream = try UpstreamProxy("http://127.0.0.1:\(silent.port)")
    let (own, other) = (IPAddress.ipv4(0x7f00_0001), IPAddress.ipv4(0xc000_0201))
    let refusal = try await refusal(own, other, port: 443, through: upstream, by: .any, at: [.tcp(own, port: 443)]) {
      $0.limits.connectTimeout = .seconds(1)
    }
    #expect(refusal?.status == 403 && refusal?.error == "proxy_loop_detected")
    #expect(
      refusal?.message
        == "public.test:443 cannot be connected to. 127.0.0.1: this proxy itself listens there; 192.0.2.1: the upstream proxy \(upstream) has not connected to it in time."
    )
    await silent.stop()
  }
}
