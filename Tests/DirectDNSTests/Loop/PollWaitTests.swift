// SPDX-License-Identifier: Apache-2.0
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@testable import DirectDNS

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
