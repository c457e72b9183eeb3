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

@Suite("Listeners while a proxy runs", .timeLimit(.minutes(1)))
struct OpenListenersTests {
  enum Kind: CaseIterable {
    case port, file, handedOver
  }

  private let path = FileManager.default.temporaryDirectory.appending(
    path: "directdns-\(UInt32.random(in: 0 ... .max))"
  ).path
  private let notices = Watched<[String]>([])

  private func listeners() -> OpenListeners {
    OpenListeners(
      pause: .zero, notice: { [notices] text in notices.change { $0.append(text) } },
      bootstrap: {
        ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup).serverChannelOption(.autoRead, value: false)
      })
  }

  private func listener(_ kind: Kind) throws -> ProxyListener {
    switch kind {
    case .port: .address(.tcp(.loopback(), port: 0))
    case .file: .address(.unix(path: path))
    case .handedOver: .inherited(try UnixSocketFile.listen(at: path).socket)
    }
  }

  private func connect(to place: ListenAddress) async throws {
    let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
    let client =
      switch place {
      case .tcp(_, let port): try await bootstrap.connect(host: "127.0.0.1", port: Int(port)).get()
      case .unix(let path): try await bootstrap.connect(unixDomainSocketPath: path).get()
      }
    try? await client.close()
  }

  @Test(arguments: Kind.allCases)
  func `one that SwiftNIO closes listens at the same place again`(_ kind: Kind) async throws {
    let listeners = listeners()
    let place = try await listeners.open(listener(kind))
    listeners.accept()
    for _ in 0..<2 {
      let channel = try #require(listeners.opened.first?.channel)
      try await channel.close()
      while listeners.opened.first?.channel === channel { await Task.yield() }
      #expect(listeners.places == [place])
      try await connect(to: place)
    }
    // Once a minute at most.
    await notices.wait { !$0.isEmpty }
    #expect(notices.value.count == 1)
    #expect(notices.value.first?.hasPrefix("\(place): the proxy listens there again.") == true)
    await listeners.close()
    await #expect(throws: (any Error).self) { try await connect(to: place) }
    if kind == .handedOver { try FileManager.default.removeItem(atPath: path) }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  private func mode() throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }

  private func setMode(_ mode: Int) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  @Test(arguments: [0o600, 0o660, 0o666])
  func `a Unix socket that listens again keeps the mode that its file was given`(given: Int) async throws {
    let listeners = listeners()
    let place = try await listeners.open(listener(.file))
    listeners.accept()
    try setMode(given)
    let channel = try #require(listeners.opened.first?.channel)
    try await channel.close()
    while listeners.opened.first?.channel === channel { await Task.yield() }
    #expect(try mode() == given)
    try await connect(to: place)
    await listeners.close()
  }

  /// An attempt that fails removes the file, and another program may leave one of its own.
  @Test(arguments: [false, true])
  func `its mode is what it was when it was closed, whatever has become of its file since`(isReplaced: Bool) throws {
    let first = try UnixSocketFile.listen(at: path)
    try setMode(0o600)
    let access = try #require(first.file.access)
    first.file.remove()
    close(first.socket)
    if isReplaced {
      close(try UnixSocketFile.listen(at: path).socket)
      try setMode(0o666)
    }
    let second = try UnixSocketFile.listen(at: path, for: access)
    #expect(try mode() == 0o600)
    second.file.remove()
    close(second.socket)
  }

  @Test func `one that begins anew goes by the umask, whatever file is left there`() throws {
    let first = try UnixSocketFile.listen(at: path)
    let own = try mode()
    try setMode(own ^ 0o007)
    close(first.socket)
    let second = try UnixSocketFile.listen(at: path)
    #expect(try mode() == own)
    second.file.remove()
    close(second.socket)
  }

  @Test func `while another program listens there it is said once, and tried again until that has gone`() async throws {
    let listeners = listeners()
    let place = try await listeners.open(listener(.file))
    listeners.accept()
    let channel = try #require(listeners.opened.first?.channel)
    // The place is another program's before it can be opened again.
    try FileManager.default.removeItem(atPath: path)
    let (socket, file) = try UnixSocketFile.listen(at: path)
    try await channel.close()
    await notices.wait { !$0.isEmpty }
    #expect(notices.value.first?.contains("another program listens there") == true)
    file.remove()
    close(socket)
    while listeners.opened.first?.channel === channel { await Task.yield() }
    try await connect(to: place)
    // The last word is not that it could not be.
    await notices.wait { $0.count > 1 }
    #expect(notices.value.last?.hasPrefix("\(place): the proxy listens there again.") == true)
    await listeners.close()
    #expect(notices.value.count == 2)
  }
}
