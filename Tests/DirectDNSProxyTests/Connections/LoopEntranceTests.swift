// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import NIOCore
import NIOEmbedded
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

struct LoopEntranceTests {
  @Test func `what comes after the end of a loop is dropped`() throws {
    let resolver = try DirectResolver()
    defer { resolver.shutdown() }
    let (eventLoop, count) = (EmbeddedEventLoop(), Watched(0))
    let loop = ProxyLoop(eventLoop, ProxyShared(resolver, ProxySettings(ProxyConfiguration())))
    loop.entrance.execute { count.change { $0 += 1 } }
    eventLoop.run()
    #expect(count.value == 1)
    loop.stop()
    loop.entrance.execute { count.change { $0 += 1 } }
    eventLoop.run()
    #expect(count.value == 1)
  }
}
