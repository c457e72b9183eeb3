import Testing

@testable import DirectDNS

struct LaneLoadTests {
  private let near = IPAddress("192.0.2.1")
  private let far = IPAddress("192.0.2.2")

  private func lane(_ multiplexing: LaneLoad.Multiplexing, connections: Int = 3, streams: Int = 2) -> LaneLoad {
    LaneLoad(multiplexing: multiplexing, connectionLimit: connections, streamLimit: streams)
  }

  @Test func `HTTP/1.1 opens a connection for each request, up to the lane's limit`() {
    var lane = lane(.never)
    for count in 1...3 {
      #expect(lane.admission(free: 10) == .open)
      lane.started(near, opens: false)
      lane.stood(near)
      #expect(lane.weight == count)
    }
    #expect(lane.admission(free: 10) == .laneIsFull)
    lane.ended(near, wasOpening: false, wasConnected: true)
    #expect(lane.admission(free: 10) == .reuse && lane.weight == 2)
  }

  @Test func `without a free connection of all nothing is opened`() {
    #expect(lane(.never).admission(free: 0) == .allAreTaken)
    #expect(lane(.unknown).admission(free: 0) == .allAreTaken)
  }

  @Test func `while nobody knows what a server speaks, one goes ahead and the others wait`() {
    var lane = lane(.unknown)
    #expect(lane.admission(free: 10) == .open)
    lane.started(near, opens: true)
    #expect(lane.admission(free: 10) == .laneIsFull)
    lane.stood(near)
    lane.connected(near, insteadOf: near, opened: true)
    #expect(lane.admission(free: 10) == .reuse, "one more finds out what the connection can do")
    lane.started(near, opens: false)
    #expect(lane.admission(free: 10) == .laneIsFull, "the others wait for what it finds")
    lane.learned(isMultiplexed: true)
    #expect(lane.admission(free: 10) == .open, "two streams are taken")
  }

  @Test func `one that goes ahead and fails makes room for the next to do so`() {
    var lane = lane(.unknown)
    lane.started(near, opens: true)
    lane.ended(near, wasOpening: true, wasConnected: false)
    #expect(lane.admission(free: 10) == .open && lane.isEmpty)
  }

  @Test func `HTTP/2 fills its connections before it opens another one`() {
    var lane = lane(.always, connections: 2, streams: 2)
    lane.started(near, opens: true)
    lane.stood(near)
    lane.connected(near, insteadOf: near, opened: true)
    #expect(lane.admission(free: 0) == .reuse, "a stream takes no connection of all")
    lane.started(near, opens: false)
    #expect(lane.admission(free: 1) == .open && lane.weight == 1)
    lane.started(near, opens: true)
    lane.stood(near)
    lane.connected(near, insteadOf: near, opened: true)
    lane.started(near, opens: false)
    #expect(lane.admission(free: 10) == .laneIsFull && lane.weight == 2)
  }

  @Test func `a request that must open a connection of its own tells what the server speaks, or how much it takes`() {
    var unknown = lane(.unknown, streams: 50)
    unknown.started(near, opens: true)
    unknown.stood(near)
    unknown.connected(near, insteadOf: near, opened: true)
    unknown.started(near, opens: false)
    unknown.overflowed()
    #expect(unknown.multiplexing == .never)

    var known = lane(.always, streams: 50)
    known.started(near, opens: true)
    known.stood(near)
    known.connected(near, insteadOf: near, opened: true)
    for number in 0..<20 {
      known.started(near, opens: false)
      if number < 9 { known.connected(near, insteadOf: near, opened: false) }
    }
    known.overflowed()
    for _ in 9..<20 { known.ended(near, wasOpening: false, wasConnected: false) }
    #expect(known.admission(free: 10) == .open, "ten streams are what it takes")
    known.ended(near, wasOpening: false, wasConnected: true)
    #expect(known.admission(free: 10) == .reuse)
  }

  @Test func `a response tells what the server speaks, and a later one may tell otherwise`() {
    var lane = lane(.unknown)
    lane.learned(isMultiplexed: true)
    #expect(lane.multiplexing == .always)
    lane.learned(isMultiplexed: false)
    #expect(lane.multiplexing == .never)
  }

  @Test func `an address whose connection has room comes first, in the order of the addresses`() throws {
    let addresses = [try #require(far), try #require(near)]
    var lane = lane(.never)
    #expect(lane.ordered(addresses) == addresses)
    lane.started(near, opens: false)
    lane.stood(near)
    #expect(lane.ordered(addresses) == addresses, "its connection is taken")
    #expect(lane.isBusy(near) && !lane.isBusy(far))
    lane.ended(near, wasOpening: false, wasConnected: true)
    #expect(lane.ordered(addresses) == addresses.reversed())
    #expect(lane.ordered([addresses[0]]) == [addresses[0]], "an address that is not in the answer is not used")
    lane.closed(near)
    #expect(lane.ordered(addresses) == addresses && lane.isEmpty)
  }

  @Test func `a request that got its connection to another address is counted there`() throws {
    var lane = lane(.never)
    lane.started(far, opens: false)
    lane.stood(near)
    lane.connected(near, insteadOf: far, opened: false)
    lane.ended(near, wasOpening: false, wasConnected: true)
    #expect(lane.ordered([try #require(far), try #require(near)]).first == near)
    lane.closed(near)
    #expect(lane.isEmpty)
  }
}
