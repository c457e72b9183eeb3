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

/// Sockets that are no port of our own: Unix sockets, and those that listened before the proxy began.
@Suite("Unix sockets and inherited ones", .timeLimit(.minutes(1)))
struct UnixSocketTests {
  private let folder = FileManager.default.temporaryDirectory.appending(
    path: "directdns-\(UInt32.random(in: 0 ... .max))")

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  /// What a proxy answers at a Unix socket; empty where it hangs up.
  private func ask(_ path: String) async throws -> String {
    let answer = Watched((text: "", isClosed: false))
    let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Listener(answer)) }
      }
      .connect(unixDomainSocketPath: path).get()
    // One that is hung up on may find nobody to write to.
    try? await channel.writeAndFlush(ByteBuffer(string: "GET /live HTTP/1.1\r\nHost: x\r\n\r\n"))
    await answer.wait { $0.isClosed || $0.text.hasSuffix("live\n") }
    try? await channel.close()
    return answer.value.text
  }

  private final class Listener: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let answer: Watched<(text: String, isClosed: Bool)>

    init(_ answer: Watched<(text: String, isClosed: Bool)>) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let buffer = unwrapInboundIn(data)
      answer.change { $0.text += String(buffer: buffer) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func channelInactive(context: ChannelHandlerContext) { answer.change { $0.isClosed = true } }
  }

  @Test func `a socket at which nobody listens is taken over, and taken away at the end`() async throws {
    let path = folder.appending(path: "dead").path
    let left = socket(AF_UNIX, Self.stream, 0)
    try bindSocket(left, path)
    close(left)
    let proxy = try await ProxyFixture { $0.listeners.append(.unix(path: path)) }
    #expect(try await ask(path).contains("live"))
    await proxy.stop()
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test(arguments: [true, false])
  func `a socket at which another program listens stays its own`(_ isStream: Bool) async throws {
    let path = folder.appending(path: "live").path
    let other = socket(AF_UNIX, isStream ? Self.stream : Self.datagram, 0)
    defer { close(other) }
    try bindSocket(other, path)
    if isStream { #expect(listen(other, 1) == 0) }
    let error = await #expect(throws: DirectDNSError.self) {
      try await ProxyFixture { $0.listeners.append(.unix(path: path)) }
    }
    #expect(error?.code == .cannotListen && error?.message.contains("another program listens there") == true)
    #expect(FileManager.default.fileExists(atPath: path))
  }

  @Test(arguments: [true, false])
  func `another file is never taken away`(_ isFolder: Bool) async throws {
    let path = folder.appending(path: "file").path
    if isFolder {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    } else {
      try Data("mine".utf8).write(to: URL(filePath: path))
    }
    let error = await #expect(throws: DirectDNSError.self) {
      try await ProxyFixture { $0.listeners.append(.unix(path: path)) }
    }
    #expect(error?.message.contains("is not a socket: choose another path") == true)
    #expect(FileManager.default.fileExists(atPath: path))
  }

  @Test func `one that ends leaves the socket of the one that came after it`() async throws {
    let path = folder.appending(path: "shared").path
    let first = try await ProxyFixture { $0.listeners.append(.unix(path: path)) }
    try FileManager.default.removeItem(atPath: path)
    let second = try await ProxyFixture { $0.listeners.append(.unix(path: path)) }
    await first.stop()
    #expect(try await ask(path).contains("live"))
    await second.stop()
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `the file of a socket goes before the socket, so that nobody takes it over in between`() async throws {
    // Many, so that the others take some time to end when the first one has.
    let paths = (0..<32).map { folder.appending(path: "\($0)").path }
    let proxy = try await ProxyFixture { $0.listeners += paths.map { .unix(path: $0) } }
    async let refusal = firstRefusal(at: paths[0])
    await proxy.stop()
    #expect(try await refusal == ENOENT)
  }

  /// Connects to a socket until that fails, and says why it does.
  private func firstRefusal(at path: String) async throws -> Int32 {
    while true {
      let code = try connectOnce(to: path)
      guard code == 0 else { return code }
      await Task.yield()
    }
  }

  /// Connects to a socket, and hangs up; the error, or 0.
  private func connectOnce(to path: String) throws -> Int32 {
    let address = try SocketAddress(unixDomainSocketPath: path)
    let client = socket(AF_UNIX, Self.stream, 0)
    defer { close(client) }
    return unsafe address.withSockAddr { unsafe connect(client, $0, socklen_t($1)) == 0 ? 0 : errno }
  }

  @Test func `of two that take over a dead socket at once, one listens and the other is told of it`() async throws {
    let path = folder.appending(path: "raced").path
    for _ in 0..<200 {
      let left = socket(AF_UNIX, Self.stream, 0)
      try bindSocket(left, path)
      close(left)
      let ends = Watched<(opened: [(socket: Int32, file: UnixSocketFile)], errors: [any Error])>(([], []))
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<2 {
          group.addTask {
            do {
              let opened = try UnixSocketFile.listen(at: path)
              ends.change { $0.opened.append(opened) }
            } catch {
              ends.change { $0.errors.append(error) }
            }
          }
        }
      }
      let (opened, errors) = ends.value
      #expect(opened.count == 1 && errors.count == 1)
      #expect(errors.allSatisfy { ($0 as? DirectDNSError)?.message.contains("another program listens there") == true })
      for (socket, file) in opened {
        file.remove()
        close(socket)
      }
    }
  }

  @Test func `a folder that another program has locked for good is listened in nevertheless`() throws {
    let locked = unsafe open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(locked) }
    try #require(flock(locked, LOCK_EX) == 0)
    let (socket, file) = try UnixSocketFile.listen(at: folder.appending(path: "locked").path)
    file.remove()
    close(socket)
  }

  private func bindSocket(_ descriptor: Int32, _ path: String) throws {
    let address = try SocketAddress(unixDomainSocketPath: path)
    let code = unsafe address.withSockAddr { unsafe bind(descriptor, $0, socklen_t($1)) }
    guard code == 0 else { throw IOError(errnoCode: errno, reason: "bind") }
  }

  @Test func `a user who is named may connect, and others are disconnected`() async throws {
    let path = folder.appending(path: "s").path
    let fixture = try await ProxyFixture {
      $0.listeners.append(.unix(path: path))
      $0.peers = [getuid()]
    }
    #expect(try await ask(path).hasPrefix("HTTP/1.1 200 "))
    var others = fixture.configuration
    others.peers = [getuid() &+ 1]
    try fixture.proxy.update(others)
    #expect(try await ask(path) == "")
    // A port of this machine has no such thing.
    let client = try await fixture.client()
    try await client.send("GET /live HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(await client.receive("live\n").hasPrefix("HTTP/1.1 200 "))
    await client.close()
    await fixture.stop()
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `a client that closes its connection has ended its tunnel, and not broken it off`() async throws {
    let path = folder.appending(path: "tunnel").path
    let origin = try await RawListener.start()
    let fixture = try await ProxyFixture { $0.listeners.append(.unix(path: path)) }
    let client = try await RawConnection.connect(to: path)
    try await client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\nall of it")
    await client.receive("\r\n\r\n")
    let server = try await origin.connection()
    await server.receive("all of it")
    await client.close()
    #expect(await server.receiveToEnd() == "all of it" && !server.isReset)
    #expect(await fixture.accesses(1).map(\.error) == [nil])
    await fixture.stop()
    await origin.stop()
  }

  @Test func `a Unix socket that listened before is served, and its file stays`() async throws {
    let path = folder.appending(path: "inherited").path
    let descriptor = try listening(at: path)
    let fixture = try await ProxyFixture { $0.inherited = [descriptor] }
    #expect(fixture.proxy.places.first == .unix(path: path))
    #expect(try await ask(path).hasPrefix("HTTP/1.1 200 "))
    await fixture.stop()
    #expect(FileManager.default.fileExists(atPath: path))
  }

  @Test func `a proxy that has closed the sockets that it inherited says so when it is to start again`() async throws {
    let fixture = try await ProxyFixture { $0.inherited = [try listening(at: folder.appending(path: "once").path)] }
    await fixture.proxy.stop()
    let error = await #expect(throws: DirectDNSError.self) { try await fixture.proxy.start() }
    #expect(error?.code == .cannotListen && error?.message.contains("another ProxyServer") == true)
    await fixture.stop()
  }

  @Test func `a descriptor that is not a listening stream socket is refused with what it should be`() async throws {
    let file = unsafe open("/dev/null", O_RDONLY)
    let error = await #expect(throws: DirectDNSError.self) {
      try await ProxyFixture { $0.inherited = [file] }
    }
    #expect(error?.code == .cannotListen)
    #expect(error?.message.contains("descriptor \(file)") == true && error?.message.contains("ListenStream=") == true)
  }

  @Test func `a socket that other machines reach is refused without users, and who waits there gets nothing`()
    async throws
  {
    // A socket unit starts its service since somebody has connected.
    let (descriptor, port) = try wildcard()
    let client = try await RawConnection.connect(to: port)
    try await client.send("GET /live HTTP/1.1\r\nHost: x\r\n\r\n")
    let error = await #expect(throws: DirectDNSError.self) {
      try await ProxyFixture { $0.inherited = [descriptor] }
    }
    #expect(error?.code == .invalidConfiguration && error?.message.contains("other machines") == true)
    #expect(await client.receiveToEnd() == "")
  }

  @Test func `who has connected before the proxy began is served as soon as it listens`() async throws {
    let (descriptor, port) = try wildcard()
    let client = try await RawConnection.connect(to: port)
    try await client.send("GET /proxy.pac HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    let fixture = try await ProxyFixture {
      $0.inherited = [descriptor]
      $0.users = try ProxyUsers(tokens: ["0123456789abcdef"])
    }
    #expect(await client.receive("}\n").contains("PROXY 127.0.0.1:"))
    await client.close()
    await fixture.stop()
  }

  private func listening(at path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Self.stream, 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let status = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, size) }
    }
    try #require(status == 0 && listen(descriptor, 16) == 0)
    return descriptor
  }

  /// A socket at any address and a port that is free, as listen(2) binds one that has none.
  private func wildcard() throws -> (descriptor: Int32, port: UInt16) {
    let descriptor = socket(AF_INET, Self.stream, 0)
    try #require(listen(descriptor, 16) == 0)
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = unsafe withUnsafeMutablePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(descriptor, $0, &size) }
    }
    try #require(status == 0)
    return (descriptor, UInt16(bigEndian: address.sin_port))
  }

  #if canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue)
    private static let datagram = Int32(SOCK_DGRAM.rawValue)
  #else
    private static let stream = SOCK_STREAM
    private static let datagram = SOCK_DGRAM
  #endif
}
