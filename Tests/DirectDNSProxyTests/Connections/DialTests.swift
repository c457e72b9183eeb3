// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import NIOCore
import NIOPosix
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

@Suite("Connecting", .timeLimit(.minutes(1)))
struct DialTests {
  @Test func `what was dialled is judged once more, whatever was found before`() async throws {
    let (origin, resolver) = (try await RawListener.start(), try DirectResolver())
    let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
    let settings = ProxySettings(ProxyConfiguration())
    let shared = ProxyShared(resolver, settings)
    let address = IPAddress.ipv4(0x7f00_0001)
    let refusal = try await eventLoop.flatSubmit { [port = origin.port] in
      let promise = eventLoop.makePromise(of: ProxyRefusal?.self)
      let dial = Dial(
        ProxyLoop(eventLoop, shared), settings, ForwardOrigin(.name("public.test"), port: port),
        Way(addresses: [address]), .publicOnly)
      dial.start { outcome in
        switch outcome {
        case .connected: promise.succeed(nil)
        case .failed(let refusal): promise.succeed(refusal)
        }
      }
      return promise.futureResult
    }.get()
    #expect(refusal?.status == 403 && refusal?.error == "destination_ip_prohibited")
    // It stood, and was closed before a byte went over it.
    #expect(await (try origin.connection()).receiveToEnd().isEmpty)
    await origin.stop()
    resolver.shutdown()
  }
}
