// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct InFlightQueryTests {
  private static let host = Sample.name("a.test")

  private static func query(_ family: IPAddress.Family = .ipv4) -> InFlightQuery {
    InFlightQuery(
      key: key(family), deadlines: LookupDeadlines(timeout: .seconds(5), from: Sample.at(0)), asked: Sample.at(0),
      generation: 0)
  }

  private static func key(_ family: IPAddress.Family = .ipv4) -> InFlightQuery.Key {
    .init(question: AddressQuestion(host, family), server: .providers)
  }

  @Test func `who waits already does not wait twice, and all others do in their order`() {
    var query = Self.query()
    let kept = InFlightQuery.Waiter.keepAlive(Self.host)
    for waiter in [.lookup(7), kept, .lookup(7), .lookup(9), kept, .lookup(7), .lookup(8)] { query.add(waiter) }
    #expect(query.waiters == [.lookup(7), kept, .lookup(9), .lookup(8)])
  }

  @Test func `one is found by what it asks until it has ended`() {
    var queries = InFlightQueries()
    queries.add(Self.query(), under: 4)
    #expect(queries.number(of: Self.key()) == 4 && queries.number(of: Self.key(.ipv6)) == nil)
    #expect(queries.remove(4)?.key == Self.key())
    #expect(queries.number(of: Self.key()) == nil && queries.remove(4) == nil && queries.isEmpty)
  }

  @Test func `one that was invalidated goes on without new callers, and its end takes nothing from the next`() {
    var queries = InFlightQueries()
    queries.add(Self.query(), under: 4)
    queries[4]?.add(.lookup(1))
    queries[4]?.add(.keepAlive(Self.host))
    queries.invalidate(Self.key())
    queries.invalidate(Self.key(.ipv6))
    #expect(queries.number(of: Self.key()) == nil && queries.count == 1)
    #expect(queries[4]?.isInvalidated == true && queries[4]?.waiters == [.lookup(1)])
    queries.add(Self.query(), under: 5)
    _ = queries.remove(4)
    #expect(queries.number(of: Self.key()) == 5 && queries[5]?.isInvalidated == false)
  }
}
