// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS

struct CaresChannelTests {
  private func channel(_ servers: String? = "127.0.0.1:1") throws(CaresError) -> CaresChannel {
    guard let poller = WakeUp().flatMap({ Poller($0) }) else { throw .failed("no descriptor is left") }
    let kind = CaresChannel.Kind(servers: servers, timeout: 700, system: CaresSystem())
    return try CaresChannel(kind, poller: poller)
  }

  private func query(_ timeout: Int64 = 5000) -> CaresQuery {
    CaresQuery(
      CaresLookup(host: HostName(canonical: "www.shop.test"), family: .ipv4, servers: nil, timeout: timeout),
      at: SystemClock().now)
  }

  /// A query with a caller, whose outcome the closure gets.
  private func asked(
    _ query: CaresQuery, _ body: (CaresQuery) throws(CaresError) -> Void
  ) async throws -> CaresLookup.Outcome {
    var failure: CaresError?
    do throws(CaresError) { try body(query) } catch {
      failure = error
      query.finish(.failure(error))
    }
    let outcome = await query.outcome.value()
    if let failure { throw failure }
    return outcome
  }

  @Test func `c-ares says which sockets it waits for, and that it does no more`() async throws {
    var waits = 0
    let outcome = try await asked(query()) { query throws(CaresError) in
      let channel = try channel()
      channel.start(query)
      waits = channel.sockets.count
      #expect(!channel.isIdle && channel.endTurn(at: SystemClock().now).nanoseconds < .max)
      channel.close()
      #expect(channel.sockets.isEmpty && channel.isIdle)
    }
    #expect(waits == 1)
    guard case .failure(.failed) = outcome else {
      Issue.record("\(outcome)")
      return
    }
  }

  @Test func `what nobody waits for any more is dropped at once`() async throws {
    let query = query()
    _ = try await asked(query) { query throws(CaresError) in
      let channel = try channel()
      channel.start(query)
      query.finish(.failure(.cancelled))
      #expect(!channel.isIdle)
      #expect(channel.endTurn(at: SystemClock().now) == ResolverInstant(nanoseconds: .max))
      #expect(channel.isIdle && channel.sockets.isEmpty)
      channel.close()
    }
  }

  @Test func `a lookup's time is over when it is over, whatever c-ares makes of it`() async throws {
    let query = query(100)
    let outcome = try await asked(query) { query throws(CaresError) in
      let channel = try channel()
      channel.start(query)
      #expect(channel.endTurn(at: query.deadline - .nanoseconds(1)) <= query.deadline && !query.isOver)
      _ = channel.endTurn(at: query.deadline)
      channel.close()
    }
    #expect(outcome == .failure(.timedOut))
  }

  @Test func `each lookup takes of a channel's room`() async throws {
    _ = try await asked(query()) { query throws(CaresError) in
      let channel = try channel()
      let room = channel.room
      channel.start(query)
      #expect(channel.room == room - 1)
      channel.close()
    }
  }

  @Test func `a channel that was closed begins nothing, and can be closed again`() async throws {
    let outcome = try await asked(query()) { query throws(CaresError) in
      let channel = try channel()
      channel.close()
      channel.close()
      channel.start(query)
    }
    #expect(outcome == .failure(.cancelled))
  }

  /// Names of this machine's hosts file that have addresses of one family there.
  private static let ownNames: [(name: String, family: IPAddress.Family)] = {
    var families: [String: Set<IPAddress.Family>] = [:]
    let text = (try? String(contentsOfFile: "/etc/hosts", encoding: .utf8)) ?? ""
    for line in text.split(separator: "\n") {
      let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }.map { $0.lowercased() }
      guard let address = words.first.flatMap({ IPAddress($0) }) else { continue }
      for name in words.dropFirst() { families[name, default: []].insert(address.family) }
    }
    return families.compactMap { name, found in
      guard found.count == 1, let family = found.first, (try? HostName(name)) != nil else { return nil }
      return (name, family)
    }
  }()

  @Test(.enabled(if: !ownNames.isEmpty, "this machine's hosts file has both families of every name"))
  func `what the hosts file has of one family is the whole of the name, and nobody is asked for the other`()
    async throws
  {
    let (name, own) = try #require(Self.ownNames.first)
    for family in IPAddress.Family.allCases {
      let query = CaresQuery(
        CaresLookup(host: HostName(canonical: name), family: family, servers: nil, timeout: 5000), at: SystemClock().now
      )
      let outcome = try await asked(query) { query throws(CaresError) in
        let channel = try channel()
        channel.start(query)
        #expect(channel.isIdle && channel.sockets.isEmpty)
        channel.close()
      }
      #expect(outcome.failure == (family == own ? nil : .noAddress))
    }
  }

  @Test func `a list of servers that is none makes no channel`() {
    #expect(throws: CaresError.self) { try channel("nonsense:x") }
  }
}

struct CaresSystemTests {
  @Test func `the system's configuration is the same until a file of it changes`() throws {
    let folder = try FileFolder()
    func system() -> CaresSystem { CaresSystem(resolvConf: folder / "resolv.conf") }
    let none = system()
    #expect(none == system())
    try folder.write("nameserver 192.0.2.1\n", to: "resolv.conf")
    let some = system()
    #expect(some != none && some == system())
    try folder.write("nameserver 192.0.2.20\n", to: "resolv.conf")
    #expect(system() != some)
  }

  @Test func `another resolv.conf is another configuration`() {
    #expect(CaresSystem(resolvConf: "/nowhere/a") != CaresSystem(resolvConf: "/nowhere/b"))
  }
}
