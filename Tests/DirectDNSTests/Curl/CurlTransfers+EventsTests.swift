// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Testing

@testable import DirectDNS

/// The last look at an address, when libcurl is about to connect to it: by whatever way it has come so far.
@Suite(.timeLimit(.minutes(1)))
struct CurlTransfersEventsTests {
  private static let host = "shop.test"

  /// Sends a request to addresses as if they had been judged, and gives what became of it.
  private func send(
    to addresses: [IPAddress], of origin: FakeOrigin, by policy: AddressPolicy
  ) async -> Result<TransferHead, TransferFailure> {
    let loop = Loop<CurlTransfers>(
      CurlTransferSettings(
        trust: CurlTrust(), requiresTLS13: false, limits: PoolFixture.limits, bufferSize: 65_536))
    let url = "http://\(Self.host):\(origin.port)"
    let transfer = CurlTransfer(
      TransferRequest(
        route: CurlRoute(origin: url, usesTLS: false, version: .http1, proxy: nil, showsIdentity: false),
        terms: TransferTerms(
          addresses: addresses, connectTimeout: 20_000, firstByteTimeout: 20_000, deadline: LoopTime.now + 30_000),
        target: TransferTarget(port: UInt16(origin.port), host: .name(Self.host), policy: policy),
        message: TransferMessage(url: url + "/", method: "GET", fields: [])))
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

  @Test func `one that is allowed is`() async throws {
    let origin = try await FakeOrigin.start()
    let policy = AddressPolicy(.publicOnly, allowedNetworks: [IPNetwork(.ipv4(0x7F00_0001))])
    let head = try await send(to: [.ipv4(0x7F00_0001)], of: origin, by: policy).get()
    #expect(head.lines.status == 200 && head.connection.address == .ipv4(0x7F00_0001))
    await origin.stop()
  }
}
