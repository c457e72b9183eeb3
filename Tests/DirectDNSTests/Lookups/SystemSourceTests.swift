// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Testing

@testable import DirectDNS

/// The system's DNS as a resolver sees it, with a name server on loopback in place of resolv.conf's.
@Suite(.timeLimit(.minutes(1)))
struct SystemSourceTests {
  private func asking(
    _ name: String, _ family: IPAddress.Family = .ipv4, _ records: RecordTable
  ) async throws -> Result<Answer, ProviderFailure> {
    let server = try await FakeNameServer.start(records: records)
    let source = SystemDNS(servers: server.serverAddress)
    let result: Result<Answer, ProviderFailure>
    do throws(ProviderFailure) {
      result = .success(try await source.answer(to: Sample.name(name), family: family, timeout: .seconds(5)))
    } catch {
      result = .failure(error)
    }
    await server.stop()
    return result
  }

  private static let records = RecordTable { table in
    table.add("www.example.test", "192.0.2.1", "192.0.2.2", "2001:db8::1", ttl: 60)
    table.alias("shop.example.test", to: "www.example.test", ttl: 20)
    table.add("only4.example.test", "192.0.2.4")
    table.fail("broken.example.test", .serverFailure)
  }

  @Test func `addresses of the family that was asked for come with their TTL`() async throws {
    let four = try await asking("www.example.test", .ipv4, Self.records).get()
    #expect(Set(four.addresses) == Set(Sample.addresses("192.0.2.1", "192.0.2.2")))
    #expect(four.ttl == 60)
    #expect(four.canonicalName == nil)
    let six = try await asking("www.example.test", .ipv6, Self.records).get()
    #expect(six.addresses == Sample.addresses("2001:db8::1"))
  }

  @Test func `an alias gives its canonical name, and the least TTL of the chain`() async throws {
    let answer = try await asking("shop.example.test", .ipv4, Self.records).get()
    #expect(answer.canonicalName == Sample.name("www.example.test"))
    #expect(answer.ttl == 20)
  }

  @Test
  func `a name that does not exist, and one without an address, are negative answers without a lifetime`()
    async throws
  {
    let missing = try await asking("none.example.test", .ipv4, Self.records).get()
    #expect(missing == Answer(.negative(.nameNotFound), ttl: nil))
    let empty = try await asking("only4.example.test", .ipv6, Self.records).get()
    #expect(empty == Answer(.negative(.noAddress), ttl: nil))
  }

  @Test func `a server that fails is a failure, not a negative answer`() async throws {
    guard case .failure(let failure) = try await asking("broken.example.test", .ipv4, Self.records) else {
      Issue.record("an answer came")
      return
    }
    #expect(failure.kind == .transport)
    #expect(failure.reason.contains("SERVFAIL"))
  }

  @Test func `a list of servers that is none is a failure that names it`() async {
    let failure = await #expect(throws: ProviderFailure.self) {
      try await SystemDNS(servers: "not a server").answer(
        to: ResolverFixture.host, family: .ipv4, timeout: .seconds(1))
    }
    #expect(failure?.reason.contains("not a server") == true)
  }
}
