// SPDX-License-Identifier: Apache-2.0
import NIOCore
import NIOEmbedded
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("Accepting, when no file is left")
struct AcceptPauseTests {
  private final class Scene {
    let clients = LimitedCount()
    let notices = Watched<[String]>([])
    /// The connections to origins that can be closed.
    let idle = Watched(0)
    let channel: EmbeddedChannel

    init() {
      let (notices, idle) = (notices, idle)
      let pause = AcceptPause(clients) { completion in
        completion(
          idle.change { count in
            defer { count = 0 }
            return count
          })
      } notice: { text in
        notices.change { $0.append(text) }
      }
      channel = EmbeddedChannel(handler: pause)
      for _ in 0..<3 { _ = clients.enter(limit: 3) }
    }

    /// A channel and its handlers hold each other until it has ended and its loop has gone on.
    deinit {
      _ = try? channel.finish(acceptAlreadyClosed: true)
      channel.embeddedEventLoop.run()
    }

    /// The loop accepts, in vain.
    func fail(_ code: CInt = EMFILE) {
      channel.pipeline.fireErrorCaught(IOError(errnoCode: code, reason: "accept"))
      channel.embeddedEventLoop.run()
    }

    /// What the listener was told last: whether to accept.
    var accepts: Bool? {
      channel.options.last { $0.option is ChannelOptions.Types.AutoReadOption }?.value as? Bool
    }
  }

  @Test(arguments: [EMFILE, ENFILE, ENOBUFS, ENOMEM])
  func `nothing is accepted until a client has gone, and that is said once a minute`(_ code: CInt) {
    let scene = Scene()
    scene.fail(code)
    scene.fail(code)
    #expect(scene.accepts == false && scene.notices.value.count == 1)
    scene.clients.leave()
    scene.channel.embeddedEventLoop.run()
    #expect(scene.accepts == true)
    // Under load files come and go with every client.
    scene.fail(code)
    #expect(scene.accepts == false && scene.notices.value.count == 1)
    scene.channel.embeddedEventLoop.advanceTime(by: AcceptPause.silence)
    scene.fail(code)
    #expect(scene.notices.value.count == 2 && scene.notices.value[0].hasPrefix("No file is left"))
    #expect(scene.notices.value[0].contains("--max-clients"))
  }

  @Test func `connections that nobody uses are closed first, and nothing is said while that helps`() {
    let scene = Scene()
    scene.idle.change { $0 = 3 }
    scene.fail()
    #expect(scene.accepts == true && scene.notices.value.isEmpty)
    scene.fail()
    #expect(scene.accepts == false && scene.notices.value.first?.contains("clients (3 connected)") == true)
  }

  @Test func `it is tried again each second, since not only clients have files`() {
    let scene = Scene()
    scene.fail()
    scene.channel.embeddedEventLoop.advanceTime(by: AcceptPause.interval - .nanoseconds(1))
    #expect(scene.accepts == false)
    scene.channel.embeddedEventLoop.advanceTime(by: .nanoseconds(1))
    #expect(scene.accepts == true)
  }

  @Test func `any other error is not its business`() {
    let scene = Scene()
    scene.channel.pipeline.fireErrorCaught(IOError(errnoCode: ECONNABORTED, reason: "accept"))
    #expect(throws: IOError.self) { try scene.channel.throwIfErrorCaught() }
    #expect(scene.accepts == nil && scene.notices.value.isEmpty)
  }
}
