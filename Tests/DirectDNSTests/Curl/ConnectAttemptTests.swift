// SPDX-License-Identifier: Apache-2.0
import CDirectDNSCurl
import Testing

@testable import DirectDNS

final class ConnectAttemptTests {
  private let transfers: CurlTransfers
  private let attempt: ConnectAttempt

  init() throws {
    let wakeUp = try #require(WakeUp())
    let poller = try #require(Poller(wakeUp))
    let settings = CurlTransferSettings(
      trust: CurlTrust(), requiresTLS13: false, limits: PoolFixture.limits, bufferSize: 65_536)
    transfers = try #require(CurlTransfers(settings, poller: poller, resumption: TaskResumption()))
    attempt = try #require(ConnectAttempt(events: transfers))
  }

  // Its loop would do that.
  deinit { transfers.close() }

  /// Has the attempt begin a request, and stop.
  private func run(_ body: TransferRequest.Body = .none, origin: String = "https://a.test", speaksHTTP2: Bool) {
    begin(body, origin: origin, speaksHTTP2: speaksHTTP2)
    #expect(attempt.stop())
  }

  private func begin(_ body: TransferRequest.Body = .none, origin: String = "https://a.test", speaksHTTP2: Bool) {
    let request = TransferRequest(
      route: CurlRoute(origin: origin, usesTLS: true, version: .automatic, proxy: nil, showsIdentity: false),
      terms: TransferTerms(addresses: [.ipv4(0x7F00_0001)], connectTimeout: 1, firstByteTimeout: 1, deadline: .max),
      target: TransferTarget(port: 443, host: .address(.ipv4(0x7F00_0001)), policy: AddressPolicy()),
      message: TransferMessage(url: "\(origin)/", method: "GET", fields: []), body: body)
    var machine = transfers.machine
    let id = machine.start(request.terms, request.route, .unknown, at: 0)
    guard let pool = machine.pool(of: id) else {
      Issue.record("no pool")
      return
    }
    let isReady = attempt.prepare(
      CurlTransfer(request), id, in: .init(id: pool, scope: 1, speaksHTTP2: speaksHTTP2), number: 0,
      address: request.terms.addresses.first, waits: speaksHTTP2)
    #expect(isReady)
    #expect(attempt.start(on: transfers.multis[0]))
  }

  @Test(arguments: [TransferRequest.Body.none, .bytes([1])])
  func `libcurl's handle serves again over HTTP/2, whatever was sent`(_ body: TransferRequest.Body) {
    run(body, speaksHTTP2: true)
    let first = unsafe attempt.handle.pointer
    for origin in ["https://a.test", "https://a.test", "https://b.test"] {
      run(body, origin: origin, speaksHTTP2: true)
      #expect(unsafe attempt.handle.pointer == first)
    }
  }

  @Test func `over HTTP/1 it does where it forgets the fields of the response before`() {
    run(speaksHTTP2: false)
    let first = unsafe attempt.handle.pointer
    run(speaksHTTP2: false)
    #expect(unsafe (attempt.handle.pointer == first) == CurlVersion.forgetsFields)
  }

  @Test func `a transfer goes on by a new handle as long as it is under way`() {
    #expect(!attempt.startOver())
    begin(.bytes([1]), speaksHTTP2: true)
    let first = unsafe attempt.handle.pointer
    #expect(attempt.startOver())
    #expect(unsafe attempt.handle.pointer != first)
    #expect(unsafe CurlHandle.owner(of: attempt.handle.pointer, as: ConnectAttempt.self) === attempt)
    #expect(attempt.stop() && !attempt.startOver())
  }

  @Test func `it says so where libcurl does not take its transfer`() {
    begin(speaksHTTP2: true)
    let isTakenTwice = attempt.start(on: transfers.multis[0])
    #expect(!isTakenTwice && attempt.stop())
  }

  @Test func `a transfer without a connection has lost nothing when it is to go on`() {
    begin(.bytes([1]), speaksHTTP2: true)
    #expect(attempt.resume() == CURLE_OK && attempt.resumeSending() == CURLE_OK)
    #expect(attempt.stop())
  }
}
