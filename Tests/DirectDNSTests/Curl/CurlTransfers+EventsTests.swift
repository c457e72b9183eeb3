// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Testing

@testable import DirectDNS

/// The last look at an address, when libcurl is about to connect to it: by whatever way it has come so far.
@Suite(.timeLimit(.minutes(1)))
struct CurlTransfersEventsTests {
  private static let host = "shop.test"

  private static let settings = CurlTransferSettings(
    trust: CurlTrust(), requiresTLS13: false, limits: PoolFixture.limits, bufferSize: 65_536)

  /// A request to addresses as if they had been judged.
  private func transfer(
    to addresses: [IPAddress], at port: UInt16, by policy: AddressPolicy, _ body: TransferRequest.Body = .none
  ) -> CurlTransfer {
    let url = "http://\(Self.host):\(port)"
    let method = if case .none = body { "GET" } else { "POST" }
    return CurlTransfer(
      TransferRequest(
        route: CurlRoute(origin: url, usesTLS: false, version: .http1, proxy: nil, showsIdentity: false),
        terms: TransferTerms(
          addresses: addresses, connectTimeout: 20_000, firstByteTimeout: 20_000, deadline: LoopTime.now + 30_000),
        target: TransferTarget(port: port, host: .name(Self.host), policy: policy),
        message: TransferMessage(url: url + "/", method: method, fields: Array("Expect:\0".utf8)), body: body))
  }

  /// Sends a request to addresses as if they had been judged, and gives what became of it.
  private func send(
    to addresses: [IPAddress], of origin: FakeOrigin, by policy: AddressPolicy
  ) async -> Result<TransferHead, TransferFailure> {
    let loop = Loop<CurlTransfers>(Self.settings)
    let transfer = transfer(to: addresses, at: UInt16(origin.port), by: policy)
    await transfer.waitForHead { #expect(loop.post(.start(transfer))) }
    let result = transfer.takeHead()
    loop.stop()
    return result
  }

  @Test(arguments: [
    AddressPolicy.publicOnly, AddressPolicy(.any, deniedNetworks: [IPNetwork(.ipv4(0x7F00_0001))]),
    AddressPolicy(.any, deniedSuffixes: [HostName(canonical: host)]),
  ])
  func `a forbidden address is not connected to, and nor is the next one`(_ policy: AddressPolicy) async throws {
    let origin = try await FakeOrigin.start()
    let result = await send(to: [.ipv4(0x7F00_0001), .ipv4(0x7F00_0002)], of: origin, by: policy)
    #expect(result.failure?.facts.forbidden == .ipv4(0x7F00_0001), "\(result)")
    #expect(result.failure?.facts.delivery == .notSent)
    #expect(origin.connectionCount == 0)
    await origin.stop()
  }

  @Test func `nothing is left of a request that is cancelled while it connects`() async throws {
    let origin = try await FakeOrigin.start()
    let silent = try #require(SilentAddress("127.0.0.7", port: origin.port, accepts: false))
    let wakeUp = try #require(WakeUp())
    let poller = try #require(Poller(wakeUp))
    let transfers = try #require(CurlTransfers(Self.settings, poller: poller, resumption: TaskResumption()))
    let transfer = transfer(to: [silent.address], at: UInt16(origin.port), by: AddressPolicy(.any))
    transfers.carryOut(.start(transfer))
    for _ in 0..<10 where transfers.sockets.open.isEmpty { transfers.multis[0].actOnTimers() }
    #expect(transfers.sockets.open.count == 1 && transfers.machine.connections.count == 1)
    transfers.carryOut(.cancel(transfer))
    _ = transfers.endTurn()
    #expect(transfers.sockets.open.isEmpty && transfers.machine.connections.count == 0)
    #expect(transfers.machine.pools.count == 0)
    transfers.close()
    #expect(silent.hasConnection)
    await origin.stop()
  }

  @Test func `one that is allowed is`() async throws {
    let origin = try await FakeOrigin.start()
    let policy = AddressPolicy(.publicOnly, allowedNetworks: [IPNetwork(.ipv4(0x7F00_0001))])
    let head = try await send(to: [.ipv4(0x7F00_0001)], of: origin, by: policy).get()
    #expect(head.lines.status == 200 && head.connection.address == .ipv4(0x7F00_0001))
    await origin.stop()
  }

  @Test func `an upload that is lost while its body pauses ends itself, and not the request that comes next`()
    async throws
  {
    let server = try #require(ReadingServer("", ending: .writing))
    let wakeUp = try #require(WakeUp())
    let poller = try #require(Poller(wakeUp))
    let driver = try #require(CurlTransfers(Self.settings, poller: poller, resumption: TaskResumption()))
    let (pieces, source) = AsyncStream.makeStream(of: Void.self)
    let upload = BodyUpload(length: nil, canRestart: false) { write in
      _ = await write(Array("first".utf8))
      for await _ in pieces {}
    }
    let hasMore = Locked(false)
    upload.setWake { hasMore.withLock { $0 = true } }
    let lost = transfer(to: [.ipv4(0x7F00_0001)], at: server.port, by: .any, .pulled(upload))
    let next = transfer(to: [.ipv4(0x7F00_0001)], at: server.port, by: .any)
    driver.carryOut(.start(lost))
    while !driver.isEmpty {
      await Task.yield()
      if hasMore.withLock({ exchange(&$0, with: false) }) { driver.carryOut(.resume(lost)) }
      let due = driver.turn(hasNews: true)
      _ = poller.wait(min(max(0, due - LoopTime.now), 20))
      driver.now = LoopTime.now
      poller.forEach { driver.act(on: $0, $1, owner: $2) }
    }
    // As a loop does it: commands come before the next turn.
    driver.carryOut(.start(next))
    driver.stop()
    driver.close()
    source.finish()
    #expect(lost.end?.failure?.facts.reason.code == .connectionLost)
    #expect(next.end?.failure?.facts.reason == .shutDown)
  }
}
