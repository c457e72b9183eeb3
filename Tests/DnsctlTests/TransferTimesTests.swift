// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

struct TransferTimesTests {
  private enum Event: Sendable {
    case request(RequestEvent)
    case wire(WireEvent)
  }

  private static let first = IPAddress("192.0.2.1")
  private static let second = IPAddress("192.0.2.2")

  private static func sending(_ url: String) throws -> Event { .request(.sending(try WebURL(url))) }

  private static var requesting: Event {
    .request(.requesting(HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil)))
  }

  private static func connected(_ address: IPAddress?, isReused: Bool = false) -> Event {
    .request(.connected(address, isReused: isReused))
  }

  /// The times after events at those milliseconds, in milliseconds and in curl's order: redirects, lookup, connection,
  /// TLS, beginning of the request, beginning of the response.
  private func times(after events: [(Int, Event)]) -> [Int64] {
    var times = TransferTimes()
    for (milliseconds, event) in events {
      let now = ResolverInstant(nanoseconds: 5_000_000) + .milliseconds(milliseconds)
      switch event {
      case .request(let event): times.note(event, at: now)
      case .wire(let event): times.note(event, at: now)
      }
    }
    let phases = times.phases
    return [times.redirect, phases.lookup, phases.connect, phases.appConnect, phases.pretransfer, phases.start].map {
      $0.wholeMilliseconds
    }
  }

  @Test func `each phase is counted from the beginning`() throws {
    let plain: [(Int, Event)] = try [
      (10, Self.sending("http://shop.example/")), (15, Self.requesting), (25, Self.connected(Self.first)),
      (65, .wire(.response)),
    ]
    #expect(times(after: plain) == [0, 5, 15, 0, 15, 55])
    let secured: [(Int, Event)] = try [
      (10, Self.sending("https://shop.example/")), (15, Self.requesting), (25, .wire(.opened(Self.first))),
      (45, Self.connected(Self.first)), (65, .wire(.response)),
    ]
    #expect(times(after: secured) == [0, 5, 15, 35, 35, 55])
  }

  @Test func `what has come counts, whatever fails behind it`() throws {
    let events: [(Int, Event)] = try [
      (0, Self.sending("https://shop.example/")), (5, Self.requesting), (15, .wire(.opened(Self.first))),
      (35, Self.connected(Self.first)), (65, .wire(.response)),
    ]
    let told = [[0, 0, 0, 0, 0, 0], [0, 5, 0, 0, 0, 0], [0, 5, 15, 0, 0, 0], [0, 5, 15, 35, 35, 0]] as [[Int64]]
    for (count, expected) in told.enumerated() { #expect(times(after: Array(events.prefix(count + 1))) == expected) }
  }

  @Test func `hops are added up, and one on the same connection has not connected`() throws {
    let redirected = Event.request(.redirected(status: 302, to: try WebURL("https://shop.example/b")))
    let events: [(Int, Event)] = try [
      (0, Self.sending("https://shop.example/a")), (5, Self.requesting), (15, .wire(.opened(Self.first))),
      (35, Self.connected(Self.first)), (65, .wire(.response)), (70, redirected),
      (80, Self.sending("https://shop.example/b")), (81, Self.requesting),
      (82, Self.connected(Self.first, isReused: true)), (100, .wire(.response)),
    ]
    #expect(times(after: events) == [80, 6, 15, 35, 37, 85])
  }

  @Test func `of connections that race, the one that wins counts`() throws {
    let events: [(Int, Event)] = try [
      (0, Self.sending("https://shop.example/")), (5, Self.requesting), (15, .wire(.opened(Self.first))),
      (30, .wire(.opened(Self.second))), (35, Self.connected(Self.first)),
    ]
    #expect(times(after: events) == [0, 5, 15, 35, 35, 0])
  }
}
