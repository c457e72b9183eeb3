// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// RFC 8305 §3, over real sockets: the family that answers first leads nowhere, and the other one's answer is still to
/// come.
@Suite(.timeLimit(.minutes(1)))
struct LateFamilyTests {
  static let name = "www.shop.test"

  /// What is wrong with the family that answers first.
  enum Fault: String, CaseIterable, Sendable {
    case refused, noRoute, silent

    /// An address of that family, beside which the server's port is free.
    func address(_ family: IPAddress.Family) -> String {
      switch (self, family) {
      // Linux does not even try to reach a multicast address by TCP.
      case (.noRoute, .ipv6): "ff02::1"
      case (.noRoute, .ipv4): "224.0.0.1"
      case (_, .ipv6): "::1"
      case (_, .ipv4): "127.0.0.2"
      }
    }
  }

  /// What happened to addresses, in order, such as `connecting ::1`.
  final class Log: Sendable {
    private let lines = Watched<[String]>([])

    var options: RequestOptions {
      RequestOptions(observer: { [lines] event in
        switch event {
        case .connecting(let address): lines.change { $0.append("connecting \(address)") }
        case .connectFailed(let address, _): lines.change { $0.append("failed \(address)") }
        default: break
        }
      })
    }

    var dialled: [String] { lines.value.filter { $0.hasPrefix("c") }.map { String($0.dropFirst(11)) } }

    func wait(for line: String) async { await lines.wait { $0.contains(line) } }
  }

  private func works(_ family: IPAddress.Family) -> String { family == .ipv4 ? "127.0.0.1" : "::1" }

  private func type(_ family: IPAddress.Family) -> DNSRecordType { DNSRecordType(family) }

  /// A name whose family `late` answers when the provider is told to; the other one leads to `first`.
  private func fixture(
    first: String, late: IPAddress.Family, lateAddress: String?, policy: AddressPolicy = .any,
    _ misbehaviours: Misbehaviour..., change: (inout DirectClientConfiguration) -> Void = { _ in }
  ) async throws -> ClientFixture {
    let fixture = try await ClientFixture(
      records: RecordTable { records in
        records.add(Self.name, first)
        if let lateAddress { records.add(Self.name, lateAddress) }
      }, policy: policy, change)
    let type = type(late)
    if let other = misbehaviours.first {
      fixture.provider.misbehave(.hold, other, when: { $0.type == type })
    } else {
      fixture.provider.misbehave(.hold, when: { $0.type == type })
    }
    return fixture
  }

  // MARK: It works

  @Test(arguments: IPAddress.Family.allCases, [Fault.refused, .noRoute])
  func `its addresses are tried as soon as they come, when the first ones have failed`(
    _ late: IPAddress.Family, _ fault: Fault
  ) async throws {
    let authority = try TestCertificateAuthority()
    let file = try authority.makeFile()
    let issued = try authority.issue(names: [Self.name])
    for identity in [nil, issued] as [TLSIdentity?] {
      let origin = try await FakeOrigin.start(
        configuration: FakeOriginConfiguration(identity: identity, address: Sample.address(works(late))))
      let first = fault.address(late.other)
      let fixture = try await fixture(first: first, late: late, lateAddress: works(late)) {
        $0.trust = TrustStore(privateAuthorities: [file.path], environment: [:])
      }
      let log = Log()
      let request = try ClientSample.get(origin.url("/", host: Self.name))
      async let transfer = fixture.client.execute(request, options: log.options)
      await log.wait(for: "failed \(first)")
      await fixture.answerLate()
      let response = try await transfer
      #expect(log.dialled == [first, works(late)])
      #expect(response.connection.remoteAddress == IPAddress(works(late)))
      #expect(response.connection.failedAddresses == [Sample.address(first)])
      #expect(response.resolution?.texts == [works(late)])
      #expect(origin.requests.map(\.serverName) == [identity == nil ? nil : Self.name])
      await fixture.stop()
      await origin.stop()
    }
  }

  @Test(.enabled(if: BlackHole.missing == nil), arguments: IPAddress.Family.allCases)
  func `its addresses are tried when they come, while the first ones are silent`(
    _ late: IPAddress.Family
  ) async throws {
    let first = Fault.silent.address(late.other)
    let hole = try await BlackHole.start(address: Sample.address(first))
    let origin = try await FakeOrigin.start(
      configuration: FakeOriginConfiguration(address: Sample.address(works(late)), port: hole.port))
    let fixture = try await fixture(first: first, late: late, lateAddress: works(late)) {
      $0.attemptDelay = .milliseconds(10)
    }
    let log = Log()
    let request = try ClientSample.get(origin.url("/", host: Self.name))
    async let transfer = fixture.client.execute(request, options: log.options)
    await log.wait(for: "connecting \(first)")
    await fixture.answerLate()
    let response = try await transfer
    #expect(response.connection.remoteAddress == IPAddress(works(late)))
    #expect(log.dialled == [first, works(late)])
    await fixture.stop()
    await hole.stop()
    await origin.stop()
  }

  @Test func `a redirect to its address keeps the name`() async throws {
    let origin = try await FakeOrigin.start { request in
      guard request.path == "/", let port = request.host?.split(separator: ":").last else { return OriginResponse() }
      return OriginResponse(.found, fields: [.location: "http://127.0.0.1:\(port)/next"])
    }
    let fixture = try await fixture(first: "::1", late: .ipv4, lateAddress: "127.0.0.1")
    let log = Log()
    let request = try ClientSample.get(origin.url("/", host: Self.name))
    async let transfer = fixture.client.execute(request, options: log.options)
    await log.wait(for: "failed ::1")
    await fixture.answerLate()
    let response = try await transfer
    #expect(response.url.href == origin.url("/next", host: Self.name))
    #expect(origin.requests.map(\.host) == Array(repeating: "\(Self.name):\(origin.port)", count: 2))
    await fixture.stop()
    await origin.stop()
  }

  // MARK: It does not

  @Test(arguments: [Fault.refused, .noRoute])
  func `a request fails when both have failed, and names the addresses of both`(_ fault: Fault) async throws {
    let fixture = try await fixture(
      first: fault.address(.ipv6), late: .ipv4, lateAddress: fault.address(.ipv4))
    let log = Log()
    async let error = failure(fixture, log)
    await log.wait(for: "failed \(fault.address(.ipv6))")
    await fixture.answerLate()
    let thrown = await error
    #expect(thrown?.code == .connectFailed)
    #expect(thrown?.attempts.map(\.server) == [fault.address(.ipv6), fault.address(.ipv4)])
    await fixture.stop()
  }

  @Test func `a family that turns out to have nothing ends the race`() async throws {
    let fixture = try await fixture(first: "::1", late: .ipv4, lateAddress: nil)
    let log = Log()
    async let error = failure(fixture, log)
    await log.wait(for: "failed ::1")
    await fixture.answerLate()
    let thrown = await error
    #expect(thrown?.message == "No address of \(Self.name) could be connected to at port 1: 1 tried.")
    await fixture.stop()
  }

  @Test func `a family that could not be looked up is named`() async throws {
    let fixture = try await fixture(first: "::1", late: .ipv4, lateAddress: nil, .status(503))
    let log = Log()
    async let error = failure(fixture, log)
    await log.wait(for: "failed ::1")
    await fixture.answerLate()
    let thrown = await error
    #expect(thrown?.code == .connectFailed)
    #expect(
      thrown?.message.hasSuffix("1 tried, and its ipv4 addresses could not be looked up (upstreamFailed).") == true,
      "\(thrown?.message ?? "")")
    await fixture.stop()
  }

  @Test func `the time to connect ends the wait for it`() async throws {
    let fixture = try await fixture(first: "::1", late: .ipv4, lateAddress: "127.0.0.1") {
      $0.timeouts.connect = .milliseconds(400)
    }
    let thrown = await failure(fixture, Log())
    #expect(thrown?.code == .connectFailed && thrown?.attempts.map(\.server) == ["::1"])
    #expect(
      thrown?.message.hasSuffix("and its ipv4 addresses could not be looked up (timedOut).") == true,
      "\(thrown?.message ?? "")")
    await fixture.stop()
  }

  /// The error of a request that nothing listens to.
  private func failure(_ fixture: ClientFixture, _ log: Log) async -> DirectDNSError? {
    do throws(DirectDNSError) {
      _ = try await fixture.client.execute(
        HTTPRequest(method: .get, url: WebURL("http://\(Self.name):1/")), options: log.options)
      return nil
    } catch {
      return error
    }
  }

  // MARK: The policy

  @Test func `its addresses are judged, and a forbidden one is never dialled`() async throws {
    let policy = AddressPolicy(.publicOnly, allowedNetworks: [try #require(IPNetwork("::1/128"))])
    let fixture = try await fixture(first: "::1", late: .ipv4, lateAddress: "127.0.0.1", policy: policy)
    let log = Log()
    async let error = failure(fixture, log)
    await log.wait(for: "failed ::1")
    await fixture.answerLate()
    let thrown = await error
    #expect(thrown?.code == .connectFailed && log.dialled == ["::1"])
    await fixture.stop()
  }

  @Test(arguments: [true, false])
  func `a name whose first family is forbidden goes to the other, and is refused if that is forbidden too`(
    _ isAllowed: Bool
  ) async throws {
    let origin = try await FakeOrigin.start()
    let allowed = isAllowed ? [try #require(IPNetwork("127.0.0.1/32"))] : []
    let fixture = try await fixture(
      first: "::1", late: .ipv4, lateAddress: "127.0.0.1",
      policy: AddressPolicy(.publicOnly, allowedNetworks: allowed))
    let log = Log()
    let request = try ClientSample.get(origin.url("/", host: Self.name))
    async let transfer = outcome(fixture, request, log)
    await fixture.provider.waitForRequests(2)
    await fixture.answerLate()
    let result = await transfer
    #expect(log.dialled == (isAllowed ? ["127.0.0.1"] : []))
    switch result {
    case .success(let response): #expect(isAllowed && response.status == .ok)
    case .failure(let error): #expect(!isAllowed && error.code == .addressForbidden, "\(error)")
    }
    await fixture.stop()
    await origin.stop()
  }

  private func outcome(
    _ fixture: ClientFixture, _ request: HTTPRequest, _ log: Log
  ) async -> Result<DirectResponse, DirectDNSError> {
    do throws(DirectDNSError) {
      return .success(try await fixture.client.execute(request, options: log.options))
    } catch {
      return .failure(error)
    }
  }
}

extension ClientFixture {
  /// Answers the query that is held back; the other family's may well have been answered before it has come.
  fileprivate func answerLate() async {
    await provider.waitForHeld()
    provider.release()
  }
}
