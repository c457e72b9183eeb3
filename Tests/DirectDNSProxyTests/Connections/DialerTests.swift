// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import NIOCore
import NIOEmbedded
import NIOPosix
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("Connecting", .timeLimit(.minutes(1)))
struct DialerTests {
  /// Why a connection did not come about, which is judged by the strictest policy unless another is given; nil where it did.
  func refusal(
    _ addresses: IPAddress..., port: UInt16, through upstream: UpstreamProxy? = nil,
    by policy: AddressPolicy = .publicOnly, at places: [ListenAddress] = [],
    _ change: (inout ProxyConfiguration) -> Void = { _ in }
  ) async throws -> ProxyRefusal? {
    let resolver = try DirectResolver()
    defer { resolver.shutdown() }
    let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
    var configuration = ProxyConfiguration()
    change(&configuration)
    let settings = ProxySettings(configuration, at: places)
    let shared = ProxyShared(resolver, settings)
    return try await eventLoop.flatSubmit {
      let promise = eventLoop.makePromise(of: ProxyRefusal?.self)
      let dialer = Dialer(
        ProxyLoop(eventLoop, shared), settings, ForwardOrigin(.name("public.test"), port: port),
        ChosenRoute(addresses: addresses, upstream: upstream), policy)
      dialer.start { outcome in
        switch outcome {
        case .connected: promise.succeed(nil)
        case .failed(let refusal): promise.succeed(refusal)
        }
      }
      return promise.futureResult
    }.get()
  }

  @Test func `what was dialled is judged once more, whatever was found before`() async throws {
    let origin = try await RawListener.start()
    let refusal = try await refusal(.ipv4(0x7f00_0001), port: origin.port)
    #expect(refusal?.status == 403 && refusal?.error == "destination_ip_prohibited")
    // It was established, and was closed before a byte went over it.
    #expect(await (try origin.connection()).receiveToEnd().isEmpty)
    await origin.stop()
  }

  @Test func `an address of the proxy itself is not connected to`() async throws {
    let origin = try await RawListener.start()
    let own = ListenAddress.tcp(.ipv4(0), port: origin.port)
    let refusal = try await refusal(.ipv4(0x7f00_0001), port: origin.port, by: .any, at: [own])
    #expect(refusal?.status == 403 && refusal?.error == "proxy_loop_detected", "\(String(describing: refusal))")
    #expect(origin.count == 0)
    #expect(try await self.refusal(.ipv4(0x7f00_0001), port: origin.port, by: .any) == nil)
    await origin.stop()
  }

  @Test func `a connection that comes back to the proxy itself is seen once it is established`() throws {
    let resolver = try DirectResolver()
    defer { resolver.shutdown() }
    let settings = ProxySettings(ProxyConfiguration(), at: [.tcp(.ipv4(0), port: 3128)])
    let address = IPAddress.ipv4(0xcb00_7107)
    let dialer = Dialer(
      ProxyLoop(EmbeddedEventLoop(), ProxyShared(resolver, settings)), settings,
      ForwardOrigin(.name("public.test"), port: 3128), ChosenRoute(addresses: [address]), .any)
    let channel = EmbeddedChannel()
    defer { _ = try? channel.finish() }
    channel.remoteAddress = try SocketAddress(ipAddress: "203.0.113.7", port: 3128)
    // The machine has got this address since the proxy started.
    channel.localAddress = try SocketAddress(ipAddress: "203.0.113.7", port: 40_000)
    let refusal = #expect(throws: ProxyRefusal.self) { try dialer.peer(of: channel) }
    #expect(refusal?.status == 403 && refusal?.error == "proxy_loop_detected")
    channel.localAddress = try SocketAddress(ipAddress: "203.0.113.8", port: 40_000)
    #expect(try dialer.peer(of: channel) == address)
  }

  @Test func `a connection that was reset at once is not told as a forbidden one`() throws {
    let resolver = try DirectResolver()
    defer { resolver.shutdown() }
    let settings = ProxySettings(ProxyConfiguration())
    let address = IPAddress.ipv4(0x7f00_0001)
    let dialer = Dialer(
      ProxyLoop(EmbeddedEventLoop(), ProxyShared(resolver, settings)), settings,
      ForwardOrigin(.name("public.test"), port: 80), ChosenRoute(addresses: [address]), .publicOnly)
    // It has no peer, as a socket whose other side is gone.
    let channel = EmbeddedChannel()
    defer { _ = try? channel.finish() }
    let reset = #expect(throws: IOError.self) { try dialer.peer(of: channel) }
    #expect(reset?.errnoCode == ECONNRESET)
    channel.remoteAddress = try SocketAddress(ipAddress: "127.0.0.1", port: 80)
    let forbidden = #expect(throws: IOError.self) { try dialer.peer(of: channel) }
    #expect(forbidden?.errnoCode == EACCES)
    channel.remoteAddress = try SocketAddress(ipAddress: "8.8.8.8", port: 80)
    #expect(try dialer.peer(of: channel) == .ipv4(0x0808_0808))
  }
}
