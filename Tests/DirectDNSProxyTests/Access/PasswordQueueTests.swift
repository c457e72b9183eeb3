// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Dispatch
import Testing

@testable import DirectDNSProxy
@testable import DirectDNSTesting

@Suite("Where passwords are checked", .timeLimit(.minutes(1)))
struct PasswordQueueTests {
  private struct Seen {
    var running = 0
    var most = 0
    var done = 0
  }

  private let address = IPAddress.ipv4(0xc000_0201)

  @Test func `no more are checked at a time than may be, and each has its turn`() async {
    let (queue, seen, proceed) = (PasswordQueue(width: 2), Watched(Seen()), DispatchSemaphore(value: 0))
    for number in 0..<UInt8(PasswordQueue.limit) {
      let ticket = queue.add([number], from: address) {
        seen.change {
          $0.running += 1
          $0.most = max($0.most, $0.running)
        }
        proceed.wait()
        seen.change { $0.running -= 1 }
        return true
      } completion: { _ in
        seen.change { $0.done += 1 }
      }
      #expect(ticket != nil)
    }
    await seen.wait { $0.running >= 2 }
    for _ in 0..<PasswordQueue.limit { proceed.signal() }
    await seen.wait { $0.done == PasswordQueue.limit }
    #expect(seen.value.most == 2)
  }

  @Test func `by default one is checked at least, whatever the number of cores`() async {
    let (queue, done) = (PasswordQueue(), Watched<[UInt8: Bool]>([:]))
    for number in 0..<3 as Range<UInt8> {
      let ticket = queue.add([number], from: nil) {
        number > 0
      } completion: { isRight in
        done.change { $0[number] = isRight }
      }
      #expect(ticket != nil)
    }
    await done.wait { $0.count == 3 }
    #expect(done.value == [0: false, 1: true, 2: true])
  }

  /// A queue of one at a time that is held up, and the numbers of the checks that were done since.
  private final class Held: Sendable {
    let queue = PasswordQueue(width: 1)
    let done = Watched<[UInt8]>([])
    let answers = Watched(0)
    private let proceed = DispatchSemaphore(value: 0)

    init() {
      let proceed = proceed
      _ = queue.add([0], from: nil) {
        proceed.wait()
        return false
      } completion: { _ in
      }
    }

    func add(_ number: UInt8, from address: IPAddress) -> PasswordQueue.Ticket? {
      queue.add([number], from: address) { [done] in
        done.change { $0.append(number) }
        return true
      } completion: { [answers] _ in
        answers.change { $0 += 1 }
      }
    }

    func release() { proceed.signal() }
  }

  @Test func `of a client that has left nothing is checked, and others have its place`() async throws {
    let held = Held()
    var tickets: [PasswordQueue.Ticket] = []
    for number in 1...UInt8(PasswordQueue.limit) { tickets.append(try #require(held.add(number, from: address))) }
    #expect(held.add(100, from: address) == nil)
    for ticket in tickets { held.queue.cancel(ticket) }
    #expect(held.add(101, from: address) != nil)
    held.release()
    await held.answers.wait { $0 == 1 }
    #expect(held.done.value == [101])
  }

  @Test func `addresses take turns, and a network of IPv6 is one`() async throws {
    let held = Held()
    let network = { (low: UInt64) in IPAddress.ipv6(high: 0x2001_0db8_0000_0001, low: low) }
    for number in 1...UInt8(PasswordQueue.limit) {
      #expect(held.add(number, from: network(UInt64(number))) != nil)
    }
    #expect(held.add(100, from: network(100)) == nil)
    #expect(held.add(101, from: address) != nil)
    held.release()
    await held.answers.wait { $0 == PasswordQueue.limit + 1 }
    #expect(held.done.value.prefix(3) == [1, 101, 2])
  }

  @Test func `who sends the same name and password waits for the same check`() async throws {
    let held = Held()
    let first = try #require(held.add(1, from: address))
    for _ in 0..<100 { #expect(held.add(1, from: address) != nil) }
    // The others still wait for it.
    held.queue.cancel(first)
    held.release()
    await held.answers.wait { $0 == 100 }
    #expect(held.done.value == [1])
  }

  @Test func `a client is told when too many wait, and may try again on the same connection`() async throws {
    let proxy = try await ProxyFixture { $0.users = try ProxyUsers(lines: "ann:\(TestHashes.bcrypt)") }
    let queue = proxy.proxy.shared.passwords
    let proceed = DispatchSemaphore(value: 0)
    // As many as can run, and then as many of this address as may wait.
    var tickets: [PasswordQueue.Ticket] = []
    while let ticket = queue.add(
      [UInt8(tickets.count)], from: .ipv4(0x7f00_0001),
      hash: {
        proceed.wait()
        return false
      }, completion: { _ in })
    {
      tickets.append(ticket)
    }
    let client = try await proxy.client()
    let credentials = Base64.encoded(Array("ann:\(TestHashes.password)".utf8))
    let request = "GET http://127.0.0.1:22/ HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic \(credentials)\r\n\r\n"
    try await client.send(request)
    let refusal = await client.receive("seconds.\n")
    #expect(refusal.hasPrefix("HTTP/1.1 503 ") && !refusal.contains("Connection: close"), "\(refusal)")
    client.forget()
    for _ in tickets { proceed.signal() }
    for ticket in tickets { queue.cancel(ticket) }
    try await client.send(request)
    // The port is refused, behind the password.
    #expect(await client.receive("\r\n\r\n").hasPrefix("HTTP/1.1 403 "))
    await proxy.stop()
  }
}
