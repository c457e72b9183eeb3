// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("What a proxy listens at", .timeLimit(.minutes(1)))
struct ProxyListenerTests {
  private static let unix = ProxyListener.address(.unix(path: "/run/proxy.sock"))
  private static let tcp = ProxyListener.address(.tcp(.loopback(), port: 80))

  @Test(arguments: [(unix, "another folder"), (tcp, "a port from 1024"), (.inherited(3), "a port from 1024")])
  func `a place that is not allowed is told with one of its kind`(listener: ProxyListener, remedy: String) {
    #expect(
      listener.reason(IOError(errnoCode: EACCES, reason: "bind")) == "that is not allowed: choose \(remedy)")
  }

  @Test func `sockets that were handed over come before addresses`() {
    let configuration = ProxyConfiguration(
      listeners: [.tcp(.loopback(), port: 80), .unix(path: "/run/proxy.sock")], inherited: [3, 4])
    #expect(
      ProxyListener.all(of: configuration).map(\.description) == [
        "the socket with descriptor 3", "the socket with descriptor 4", "127.0.0.1:80", "unix:/run/proxy.sock",
      ])
  }

  @Test func `a socket that was handed over and listens no more is not kept open by a try to listen there again`()
    async throws
  {
    var ends: [Int32] = [-1, -1]
    let made = unsafe socketpair(AF_UNIX, Self.stream, 0, &ends)
    try #require(made == 0)
    let listener = ProxyListener.spare(ends[0], of: .unix(path: "/run/proxy.sock"))
    let error = await #expect(throws: DirectDNSError.self) {
      _ = try await listener.opened(by: ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup))
    }
    #expect(error?.message.hasPrefix("unix:/run/proxy.sock: the proxy cannot listen there: it is not a") == true)
    close(ends[0])
    // The other end sees an end once no descriptor of this one is left.
    var entry = pollfd(fd: ends[1], events: Int16(POLLIN), revents: 0)
    let found = unsafe poll(&entry, 1, 20_000)
    #expect(found == 1)
    close(ends[1])
  }

  #if canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue)
  #else
    private static let stream = SOCK_STREAM
  #endif

  /// A listener that cannot be had, between those that can.
  @Test(arguments: 0..<3)
  func `of several listeners the one that fails is named, and the others are closed`(_ place: Int) async throws {
    let taken = try await RawListener.start()
    let path = FileManager.default.temporaryDirectory.appending(path: "directdns-\(UInt32.random(in: 0 ... .max))").path
    let wanted = ListenAddress.tcp(.loopback(), port: UInt16(taken.port))
    let error = await #expect(throws: DirectDNSError.self) {
      try await ProxyFixture { configuration in
        configuration.listeners.append(.unix(path: path))
        configuration.listeners.insert(wanted, at: place)
      }
    }
    #expect(error?.code == .cannotListen)
    #expect(
      error?.message
        == "\(wanted): the proxy cannot listen there: another program listens there: choose another port.")
    #expect(!FileManager.default.fileExists(atPath: path))
    await taken.stop()
  }
}
