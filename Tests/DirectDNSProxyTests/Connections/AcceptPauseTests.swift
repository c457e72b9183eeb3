// SPDX-License-Identifier: Apache-2.0
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

@Suite("Accepting, when no file is left")
struct AcceptPauseTests {
  private final class Fixture {
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
    let fixture = Fixture()
    fixture.fail(code)
    fixture.fail(code)
    #expect(fixture.accepts == false && fixture.notices.value.count == 1)
    fixture.clients.leave()
    fixture.channel.embeddedEventLoop.run()
    #expect(fixture.accepts == true)
    // Under load files come and go with every client.
    fixture.fail(code)
    #expect(fixture.accepts == false && fixture.notices.value.count == 1)
    fixture.channel.embeddedEventLoop.advanceTime(by: AcceptPause.silence)
    fixture.fail(code)
    #expect(fixture.notices.value.count == 2 && fixture.notices.value[0].hasPrefix("No file is left"))
    #expect(fixture.notices.value[0].contains("--max-clients"))
  }

  @Test func `connections that nobody uses are closed first, and nothing is said while that helps`() {
    let fixture = Fixture()
    fixture.idle.change { $0 = 3 }
    fixture.fail()
    #expect(fixture.accepts == true && fixture.notices.value.isEmpty)
    fixture.fail()
    #expect(fixture.accepts == false && fixture.notices.value.first?.contains("clients (3 connected)") == true)
  }

  @Test func `it is tried again each second, since not only clients have files`() {
    let fixture = Fixture()
    fixture.fail()
    fixture.channel.embeddedEventLoop.advanceTime(by: AcceptPause.interval - .nanoseconds(1))
    #expect(fixture.accepts == false)
    fixture.channel.embeddedEventLoop.advanceTime(by: .nanoseconds(1))
    #expect(fixture.accepts == true)
  }

  @Test func `a client that leaves once the listener's loop has ended tells nobody`() async {
    await #expect(processExitsWith: .success) { try await AcceptPauseTests.outlive() }
  }

  /// In a process of its own, which SwiftNIO ends at a call of a loop that has ended.
  static func outlive() async throws {
    unsafe setenv("SWIFTNIO_STRICT", "1", 1)
    let clients = LimitedCount()
    _ = clients.enter(limit: 1)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let listener = try await ServerBootstrap(group: group)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pause = AcceptPause(clients, release: { completion in completion(0) }, notice: { _ in })
          try channel.pipeline.syncOperations.addHandler(pause)
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    listener.pipeline.fireErrorCaught(IOError(errnoCode: EMFILE, reason: "accept"))
    try await group.shutdownGracefully()
    clients.leave()
  }

  @Test func `any other error is not its business`() {
    let fixture = Fixture()
    fixture.channel.pipeline.fireErrorCaught(IOError(errnoCode: ECONNABORTED, reason: "accept"))
    #expect(throws: IOError.self) { try fixture.channel.throwIfErrorCaught() }
    #expect(fixture.accepts == nil && fixture.notices.value.isEmpty)
  }
}
