// SPDX-License-Identifier: Apache-2.0
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

@testable import DirectDNS

/// Limits of size and time, and requests that are cancelled.
extension CurlTransportTests {
  // MARK: Bodies

  @Test(arguments: [false, true])
  func `a body has 64 KiB at most, and a larger one ends the transfer alone`(_ isChunked: Bool) async throws {
    let shape: Misbehaviour = isChunked ? .chunked : .age(0)
    try await ProviderFixture.plain { try await receiveLargeBodies($0, shape) }
    try await ProviderFixture.secure { try await receiveLargeBodies($0, shape) }
  }

  private func receiveLargeBodies(_ fixture: ProviderFixture, _ shape: Misbehaviour) async throws {
    fixture.server.misbehave(.padded(to: 65_536), shape, times: 1)
    fixture.server.misbehave(.padded(to: 65_537), shape, times: 1)
    fixture.server.misbehave(.padded(to: 5_000_000), shape, times: 1)
    #expect(try await fixture.send().body.count == 65_536)
    #expect(await fixture.failure() == .bodyTooLarge)
    #expect(await fixture.failure() == .bodyTooLarge)
    #expect(try await fixture.send().status.code == 200)
  }

  @Test(arguments: ["trailers", "head"], [("a: b", 2_000), ("X-Long: " + String(repeating: "v", count: 1_000), 70)])
  func `header fields and trailers have 64 KiB at most`(_ part: String, _ lines: (String, Int)) async throws {
    let more = String(repeating: lines.0 + "\r\n", count: lines.1)
    let (head, trailers) = part == "head" ? (more, "") : ("", more)
    let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\(head)\r\n2\r\n{}\r\n0\r\n\(trailers)\r\n"
    let server = try await FakeOrigin.start { request in
      if request.path == "/short" { return OriginResponse(body: "{}") }
      throw OriginFault.text(text)
    }
    let transport = try CurlTransport()
    let fixture = HTTPEndpoint(url: try WebURL(server.url("/")))
    let error = await #expect(throws: HTTPTransportError.self) {
      try await transport.send(HTTPMessage(url: server.url("/long")), to: fixture, timeout: .seconds(20))
    }
    #expect(error == .fieldsTooLarge && server.requests.count == 1)
    let reply = try await transport.send(HTTPMessage(url: server.url("/short")), to: fixture, timeout: .seconds(20))
    #expect(reply.status == .ok)
    transport.shutdown()
    await server.stop()
  }

  @Test func `an empty body is a reply, and 204 too`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(.emptyBody, times: 1)
      fixture.server.misbehave(.status(204), times: 1)
      #expect(try await fixture.send().body == [])
      let none = try await fixture.send()
      #expect(none.status.code == 204 && none.body == [])
    }
  }

  @Test func `what is compressed unasked stays as it came`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(.gzip)
      #expect(try await fixture.send().body.starts(with: [0x1f, 0x8b]))
      #expect(fixture.server.requests.first?.field("Accept-Encoding") == nil)
    }
  }

  // MARK: Time

  @Test(arguments: [Misbehaviour.hang, .holdBody, .drip(bytes: 1, every: .milliseconds(20))])
  func `a request ends when its time is over, and the connection serves on`(_ what: Misbehaviour) async throws {
    try await ProviderFixture.secure { fixture async throws in
      try await fixture.send()
      fixture.server.misbehave(what, when: { $0.name == "slow.flood.test" })
      let begin = ContinuousClock.now
      let slow = fixture.begin("/resolve?name=slow.flood.test", timeout: .milliseconds(150))
      // A reply meanwhile: on a busy machine that time may be noticed late, after a second of a connection's silence.
      try await fixture.send()
      #expect(await slow.value.failure == .timedOut)
      #expect(ContinuousClock.now - begin < .seconds(40))
      #expect(try await fixture.send().status.code == 200)
      #expect(fixture.server.connectionCount == 1)
    }
  }

  @Test func `a server that accepts and says nothing costs its time and no more`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.isMute = true
      #expect(await fixture.failure(timeout: .milliseconds(150)) == .timedOut)
      fixture.server.isMute = false
      #expect(try await fixture.send().status.code == 200)
    }
  }

  @Test func `waiting in the queue counts, whoever stands in front`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(.hold)
      let running = (0..<50).map { fixture.begin("/resolve?name=n\($0).flood.test") }
      await fixture.server.waitForHeld(50)
      let patient = fixture.begin("/resolve?name=patient.flood.test")
      let hasty = fixture.begin("/resolve?name=hasty.flood.test", timeout: .milliseconds(50))
      #expect(await hasty.value.failure == .timedOut)
      fixture.server.behave()
      fixture.server.release()
      for task in running + [patient] { #expect(try await task.value.get().status.code == 200) }
      #expect(!fixture.server.requests.contains { $0.name == "hasty.flood.test" })
    }
  }

  // MARK: Cancellation

  @Test func `a cancelled request ends at once, and the connection serves on`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(.hold)
      let tasks = (0..<3).map { _ in fixture.begin() }
      await fixture.server.waitForHeld(3)
      tasks[1].cancel()
      #expect(await tasks[1].value.failure == .cancelled)
      fixture.server.behave()
      fixture.server.release()
      #expect(try await tasks[0].value.get().status.code == 200)
      #expect(try await tasks[2].value.get().status.code == 200)
      #expect(try await fixture.send().status.code == 200)
      #expect(fixture.server.connectionCount == 1)
    }
  }

  @Test func `a request cancelled in the queue is never sent`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(.hold)
      let running = (0..<50).map { fixture.begin("/resolve?name=n\($0).flood.test") }
      await fixture.server.waitForHeld(50)
      let queued = (0..<3).map { fixture.begin("/resolve?name=queued\($0).flood.test") }
      queued[1].cancel()
      #expect(await queued[1].value.failure == .cancelled)
      fixture.server.behave()
      fixture.server.release()
      for task in running + [queued[0], queued[2]] { #expect(try await task.value.get().status.code == 200) }
      #expect(!fixture.server.requests.contains { $0.name == "queued1.flood.test" })
    }
  }

  @Test func `a task that was cancelled before sends nothing, the very first one too`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(.hang)
      for _ in 0..<2 {
        let failure = await withTaskGroup(of: HTTPTransportError?.self) { group in
          group.cancelAll()
          group.addTask { await fixture.failure(timeout: .seconds(3)) }
          return await group.next() ?? nil
        }
        #expect(failure == .cancelled)
      }
      #expect(fixture.server.requests.isEmpty)
    }
  }

  @Test func `a storm of cancellations leaves nothing behind`() async throws {
    try await ProviderFixture.secure { fixture async throws in
      fixture.server.misbehave(.delay(.milliseconds(1)))
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<300 {
          group.addTask {
            let task = Task { await fixture.failure("/resolve?name=n\(number).flood.test") }
            if number.isMultiple(of: 3) { task.cancel() }
            let failure = await task.value
            #expect(failure == nil || number.isMultiple(of: 3) && failure == .cancelled)
          }
        }
      }
      #expect(try await fixture.send().status.code == 200)
    }
  }
}
