// SPDX-License-Identifier: Apache-2.0
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct PollerTests {
  private let wakeUp: WakeUp
  private let poller = RecordingPoller()
  private let events: Poller

  init() throws {
    wakeUp = try #require(WakeUp())
    events = Poller(wakeUp, system: poller)
    poller.said = []
  }

  /// Waits, and hands out what is ready as text.
  private func ready() -> [String] {
    _ = events.wait(0)
    var ready: [String] = []
    events.forEach { socket, interest, owner in ready.append("\(socket) \(interest.rawValue) of \(owner)") }
    return ready
  }

  @Test func `a socket is handed out to its owner, for what it is watched for`() {
    events.opened(70)
    events.watch(70, for: .reading, owner: 3)
    poller.events = [(70, [.reading, .writing])]
    #expect(ready() == ["70 1 of 3"])
    events.watch(70, for: [.reading, .writing], owner: 3)
    #expect(ready() == ["70 3 of 3"])
    #expect(poller.said == ["70: 0 → 1", "70: 1 → 3"])
  }

  @Test func `between two requests nothing is said to the kernel`() {
    events.opened(70)
    for _ in 0..<3 {
      events.watch(70, for: .reading, owner: 0)
      events.watch(70, for: [], owner: 0)
    }
    #expect(poller.said == ["70: 0 → 1"])
  }

  @Test
  func `what nobody wants any more is taken out when something happens to it, and put in when it is wanted again`() {
    events.opened(70)
    events.watch(70, for: .reading, owner: 0)
    events.watch(70, for: [], owner: 0)
    poller.events = [(70, .reading)]
    // Its owner hears that it has something to say, and reads nothing.
    #expect(ready() == ["70 0 of 0"])
    events.watch(70, for: .reading, owner: 0)
    #expect(ready() == ["70 1 of 0"])
    #expect(poller.said == ["70: 0 → 1", "70: 1 → 0", "70: 0 → 1"])
  }

  @Test func `room to write that nobody wants any more is nothing to tell`() {
    events.opened(70)
    events.watch(70, for: [.reading, .writing], owner: 0)
    events.watch(70, for: [], owner: 0)
    poller.events = [(70, .writing)]
    #expect(ready() == [])
    #expect(poller.said == ["70: 0 → 3", "70: 3 → 1"])
    poller.events = [(70, .reading)]
    #expect(ready() == ["70 0 of 0"])
    #expect(poller.said.last == "70: 1 → 0")
  }

  @Test func `a socket whose end is not told is taken out at once`() {
    events.watch(70, for: .reading, owner: 0)
    events.watch(70, for: [], owner: 0)
    #expect(poller.said == ["70: 0 → 1", "70: 1 → 0"])
  }

  @Test func `a new socket under a number that was used before is put in anew`() {
    events.opened(70)
    events.watch(70, for: .reading, owner: 0)
    events.watch(70, for: [], owner: 0)
    events.closed(70)
    events.opened(70)
    events.watch(70, for: .reading, owner: 0)
    #expect(poller.said == ["70: 0 → 1", "70: 1 → 0", "70: 0 → 1"])
  }

  @Test func `what the kernel would not watch it is asked for again before each wait, which is short until then`() {
    poller.refuses = true
    events.opened(70)
    events.watch(70, for: .reading, owner: 0)
    _ = events.wait(60_000)
    poller.refuses = false
    for _ in 0..<2 { _ = events.wait(60_000) }
    #expect(poller.said == ["70: 0 → 1", "70: 0 → 1", "70: 0 → 1"])
    #expect(poller.waits == [CInt(Poller.refusedWait), 60_000, 60_000])
  }

  @Test(arguments: [false, true])
  func `what the kernel would not watch is not asked for any more once nobody wants it`(_ isClosed: Bool) {
    poller.refuses = true
    events.opened(70)
    events.watch(70, for: .reading, owner: 0)
    if isClosed { events.closed(70) } else { events.watch(70, for: [], owner: 0) }
    _ = events.wait(60_000)
    #expect(!poller.said.dropFirst().contains { $0.hasSuffix("→ 1") })
    #expect(poller.waits == [60_000])
  }

  @Test func `a loop whose wake-up the kernel would not watch wakes all the same`() throws {
    let poller = RecordingPoller()
    poller.refuses = true
    let events = Poller(wakeUp, system: poller)
    _ = events.wait(60_000)
    #expect(poller.waits == [CInt(Poller.refusedWait)])
    poller.refuses = false
    _ = events.wait(60_000)
    let wakeUp = wakeUp.descriptor
    #expect(poller.said == [String](repeating: "\(wakeUp): 0 → 1", count: 3))
  }

  @Test func `a call ends the wait and is no socket's`() throws {
    let events = try #require(Poller(wakeUp))
    wakeUp.call()
    wakeUp.call()
    #expect(events.wait(60_000))
    events.forEach { socket, _, _ in Issue.record("\(socket) was handed out") }
    #expect(!events.wait(0))
  }
}

/// Says what it was told, and has the events that it is given.
private final class RecordingPoller: PollerWait {
  var said: [String] = []
  var events: [(CInt, Poller.Interest)] = []
  /// Whether it takes nothing that it is told.
  var refuses = false
  var waits: [CInt] = []

  func register(_ descriptor: CInt, _ interest: Poller.Interest, insteadOf before: Poller.Interest) -> Bool {
    said.append("\(descriptor): \(before.rawValue) → \(interest.rawValue)")
    return !refuses
  }

  func wait(_ milliseconds: CInt) -> Int {
    waits.append(milliseconds)
    return events.count
  }

  func event(_ index: Int) -> (descriptor: CInt, ready: Poller.Interest) { events[index] }
}

/// What every way of waiting has to do, by the one of this system and by the one that is everywhere.
@Suite(.timeLimit(.minutes(1)))
struct PollWaitTests {
  enum Way: CaseIterable {
    case poll, own

    var poller: (any PollerWait)? {
      switch self {
      case .poll: PollWait()
      case .own:
        #if os(Linux)
          EpollWait()
        #else
          PollWait()
        #endif
      }
    }
  }

  /// Two sockets that are connected.
  private struct Pair: ~Copyable {
    var left: CInt = -1
    var right: CInt = -1

    init() {
      #if canImport(Glibc)
        let kind = CInt(SOCK_STREAM.rawValue)
      #else
        let kind = SOCK_STREAM
      #endif
      var ends: [CInt] = [-1, -1]
      unsafe _ = socketpair(AF_UNIX, kind, 0, &ends)
      (left, right) = (ends[0], ends[1])
    }

    func write() { unsafe _ = send(right, "x", 1, 0) }

    mutating func closeRight() {
      close(right)
      right = -1
    }

    deinit {
      close(left)
      if right >= 0 { close(right) }
    }
  }

  private func ready(_ poller: any PollerWait) -> [CInt: Poller.Interest] {
    let count = poller.wait(0)
    return Dictionary(uniqueKeysWithValues: (0..<count).map { poller.event($0) }.map { ($0.descriptor, $0.ready) })
  }

  @Test(arguments: Way.allCases)
  func `a descriptor is ready for what it was registered for last`(_ way: Way) throws {
    let poller = try #require(way.poller)
    let pair = Pair()
    poller.register(pair.left, .reading, insteadOf: [])
    #expect(ready(poller) == [:])
    pair.write()
    #expect(ready(poller) == [pair.left: .reading])
    poller.register(pair.left, [.reading, .writing], insteadOf: .reading)
    #expect(ready(poller) == [pair.left: [.reading, .writing]])
    poller.register(pair.left, .writing, insteadOf: [.reading, .writing])
    #expect(ready(poller) == [pair.left: .writing])
    poller.register(pair.left, [], insteadOf: .writing)
    #expect(ready(poller) == [:])
  }

  @Test(arguments: Way.allCases)
  func `an end is there to be read and to be run into by writing`(_ way: Way) throws {
    let poller = try #require(way.poller)
    var pair = Pair()
    poller.register(pair.left, .reading, insteadOf: [])
    pair.closeRight()
    #expect(ready(poller)[pair.left]?.contains(.reading) == true)
    poller.register(pair.left, .writing, insteadOf: .reading)
    #expect(ready(poller)[pair.left]?.contains(.writing) == true)
  }

  @Test(arguments: Way.allCases)
  func `those that stay are found when others go`(_ way: Way) throws {
    let poller = try #require(way.poller)
    let first = Pair()
    let second = Pair()
    let third = Pair()
    for left in [first.left, second.left, third.left] { poller.register(left, .reading, insteadOf: []) }
    first.write()
    third.write()
    poller.register(first.left, [], insteadOf: .reading)
    #expect(ready(poller) == [third.left: .reading])
    poller.register(third.left, [], insteadOf: .reading)
    second.write()
    #expect(ready(poller) == [second.left: .reading])
  }
}
