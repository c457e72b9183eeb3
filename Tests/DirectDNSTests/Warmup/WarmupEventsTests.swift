// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// What a warm-up owes to who listens, and does not owe to who has stopped.
@Suite(.timeLimit(.minutes(1)))
struct WarmupEventsTests {
  private static let count = WarmupChannel.room * 3

  private func job(_ fixture: ResolverFixture) throws -> WarmupJob {
    fixture.transport.answer(Script.addresses("192.0.2.1"))
    var plan = WarmupPlan(names: (0..<Self.count).map { "h\($0).example" })
    plan.timeout = nil
    return try WarmupJob(plan, resolver: fixture.resolver)
  }

  @Test func `who leaves the loop by break holds up no start, even if the sequence is kept`() async throws {
    let fixture = try ResolverFixture()
    let job = try job(fixture)
    let events = job.events()
    let running = Task { try await job.warmUp() }
    for await _ in events { break }
    #expect(try await running.value.resolved == Self.count)
    for await _ in events { Issue.record("a second loop gets nothing") }
  }

  @Test func `who asks for events once it is stopped holds up its end as little as who asked before`() async throws {
    let fixture = try ResolverFixture()
    let job = try job(fixture)
    job.stop()
    let reader = job.events().makeAsyncIterator()
    let channel = try #require(job.state.withLock(\.channels).first)
    for line in 0...WarmupChannel.room {
      await channel.send(
        .rejected(WarmupRejection(place: WarmupPlace(source: "f", line: line), text: "", reason: "")))
    }
    #expect(try await job.warmUp().end == .stopped)
    withExtendedLifetime(reader) {}
  }

  @Test func `who begins to listen after the end hears all of it`() async throws {
    let fixture = try ResolverFixture()
    let job = try job(fixture)
    let events = job.events()
    #expect(try await job.warmUp().resolved == Self.count)
    #expect(await events.reduce(0) { count, _ in count + 1 } == Self.count)
  }
}

@Suite(.timeLimit(.minutes(1)))
struct WarmupChannelTests {
  private func event(_ number: Int) -> WarmupEvent {
    .rejected(WarmupRejection(place: WarmupPlace(source: "f", line: number), text: "", reason: ""))
  }

  private func line(_ event: WarmupEvent) -> Int? {
    if case .rejected(let rejection) = event { rejection.place?.line } else { nil }
  }

  /// Sends more than there is room for; whether nobody was held back.
  private func sendsFreely(_ channel: WarmupChannel) async -> Bool {
    let sent = Watched(0)
    let sender = Task {
      for number in 0..<WarmupChannel.room * 2 {
        await channel.send(event(number))
        sent.change { $0 += 1 }
      }
    }
    let isFree = await sent.wait { $0 == WarmupChannel.room * 2 }
    if !isFree { channel.release() }
    await sender.value
    return isFree
  }

  @Test func `events come in their order, none is lost, and the sequence ends with the warm-up`() async {
    let channel = WarmupChannel()
    let events = WarmupEvents(channel)
    let sender = Task {
      for number in 0..<2000 { await channel.send(event(number)) }
      channel.end()
    }
    var lines: [Int] = []
    for await event in events { if let line = line(event) { lines.append(line) } }
    await sender.value
    #expect(lines == Array(0..<2000))
  }

  @Test func `a slow reader holds the sender back`() async {
    let channel = WarmupChannel()
    let iterator = WarmupEvents(channel).makeAsyncIterator()
    for number in 0..<WarmupChannel.room - 1 { await channel.send(event(number)) }
    let sent = Watched(0)
    let sender = Task.immediate {
      for number in 0..<3 {
        await channel.send(event(number))
        sent.change { $0 += 1 }
      }
    }
    #expect(sent.value == 0)
    for _ in 0..<WarmupChannel.room / 2 { _ = await iterator.next() }
    await sender.value
    #expect(sent.value == 3)
  }

  @Test func `who lets go of the sequence holds nobody back`() async {
    let channel = WarmupChannel()
    _ = WarmupEvents(channel)
    #expect(await sendsFreely(channel))
  }

  @Test func `who leaves the loop holds nobody back, even if the sequence is kept`() async {
    let channel = WarmupChannel()
    let events = WarmupEvents(channel)
    await channel.send(event(0))
    for await event in events {
      #expect(line(event) == 0)
      break
    }
    #expect(await sendsFreely(channel))
    for await _ in events { Issue.record("a second loop gets nothing") }
  }

  @Test func `a sequence that nobody reads yet holds nobody back, and keeps what comes`() async {
    let channel = WarmupChannel()
    let events = WarmupEvents(channel)
    #expect(await sendsFreely(channel))
    channel.end()
    #expect(await events.reduce(0) { count, _ in count + 1 } == WarmupChannel.room * 2)
  }

  @Test func `a warm-up that is to end is not held back`() async {
    let channel = WarmupChannel()
    let events = WarmupEvents(channel)
    channel.release()
    #expect(await sendsFreely(channel))
    channel.end()
    var count = 0
    for await _ in events { count += 1 }
    #expect(count == WarmupChannel.room * 2)
  }

  @Test func `a reader that is cancelled is let go`() async {
    let channel = WarmupChannel()
    let events = WarmupEvents(channel)
    let isDone = Watched(false)
    let reader = Task.immediate {
      for await _ in events {}
      isDone.change { $0 = true }
    }
    reader.cancel()
    #expect(await isDone.wait { $0 })
    #expect(await sendsFreely(channel))
  }
}
