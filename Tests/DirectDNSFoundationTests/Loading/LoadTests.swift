// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSFoundation
import DirectDNSTesting
import Foundation
import HTTPTypes
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("A load", .timeLimit(.minutes(2)))
struct LoadTests {
  private static let size = 8_000_000

  private func start(_ handler: @escaping FakeOrigin.Handler) async throws -> FakeOrigin {
    try await FakeOrigin.start(handler: handler)
  }

  @Test(arguments: [false, true]) func `a delegate gets a body whole, or in pieces`(_ streams: Bool) async throws {
    let origin = try await start { _ in OriginResponse(body: [UInt8](repeating: 7, count: Self.size)) }
    let recorder = DelegateRecorder()
    let direct = try DirectSession(delegate: recorder, streamsToDelegate: streams)
    direct.session.dataTask(with: try DirectSession.request(origin.url("/", host: "shop.test"))).resume()
    let record = await recorder.end()
    #expect(record.error == nil && record.statuses == [200] && record.sizes.reduce(0, +) == Self.size)
    #expect((record.sizes.count > 1) == streams)
    await direct.end()
    await origin.stop()
  }

  @Test func `a task that is suspended goes on where it was, and is sent once`() async throws {
    let origin = try await start { _ in OriginResponse(body: [UInt8](repeating: 7, count: Self.size)) }
    let recorder = DelegateRecorder(suspendsAtFirstPiece: true)
    let direct = try DirectSession(delegate: recorder, streamsToDelegate: true)
    let task = direct.session.dataTask(
      with: try DirectSession.request(origin.url("/", host: "shop.test")) { $0.httpMethod = "POST" })
    task.resume()
    await recorder.suspended()
    #expect(task.state == .suspended && recorder.record.sizes.reduce(0, +) < Self.size)
    task.resume()
    let record = await recorder.end()
    #expect(record.statuses == [200] && record.sizes.reduce(0, +) == Self.size && origin.requests.count == 1)
    await direct.end()
    await origin.stop()
  }

  @Test func `a task that is suspended follows no redirect until it is resumed`() async throws {
    let gate = Gate()
    let origin = try await start { request in
      guard request.path == "/go" else { return OriginResponse() }
      try await gate.pass()
      return OriginResponse(.found, fields: [.location: "/there"])
    }
    let recorder = DelegateRecorder()
    let (direct, other) = (try DirectSession(delegate: recorder), try DirectSession())
    let task = direct.session.dataTask(with: try DirectSession.request(origin.url("/go", host: "shop.test")))
    task.resume()
    await gate.waitForArrivals()
    task.suspend()
    // Foundation has one queue for all sessions: what was asked for later and is answered came behind the suspension.
    _ = try await other.text(origin.url("/", host: "shop.test"))
    gate.open()
    for _ in 0..<5 { _ = try await other.text(origin.url("/", host: "shop.test")) }
    #expect(!origin.requests.map(\.path).contains("/there"))
    task.resume()
    #expect(await recorder.end().statuses == [200] && origin.requests.last?.path == "/there")
    await direct.end()
    await other.end()
    await origin.stop()
  }

  @Test func `cancelling ends the transfer at once`() async throws {
    let origin = try await start { _ in
      try await Gate().pass()
      return OriginResponse()
    }
    let direct = try DirectSession()
    let request = try DirectSession.request(origin.url("/", host: "shop.test"))
    let asking = Task { try await direct.error(request) }
    await origin.waitForRequests()
    asking.cancel()
    #expect(try await asking.value.code == .cancelled)
    #expect(await origin.waitForOpenConnections(0))
    #expect(origin.requests.count == 1)
    await direct.end()
    await origin.stop()
  }

  @Test func `a server that is silent is given up after the request's time, or else the session's`() async throws {
    let origin = try await start { _ in
      try await Gate().pass()
      return OriginResponse()
    }
    let direct = try DirectSession(configuration: { $0.timeoutIntervalForRequest = 0.2 })
    let url = origin.url("/", host: "shop.test")
    let short = try DirectSession(configuration: { $0.timeoutIntervalForResource = 0.2 })
    let errors = [
      try await direct.error(DirectSession.request(url)),
      try await direct.error(DirectSession.request(url) { $0.timeoutInterval = 0.1 }),
      // What is left of it when the request goes out.
      try await short.error(DirectSession.request(url)),
    ]
    for (error, time) in zip(errors, ["silent for 0.2 seconds", "silent for 0.1 seconds", "was not done within 0."]) {
      #expect(error.code == .timedOut)
      #expect(error.directError?.message.contains(time) == true, "\(String(describing: error.directError))")
    }
    await direct.end()
    await short.end()
    await origin.stop()
  }

  @Test func `a body that stops in the middle is given up after the same time`() async throws {
    let origin = try await start { _ in OriginResponse(fields: [.contentLength: "10"], body: "half.") }
    // It is the time for the response's head as well, which has to come.
    let direct = try DirectSession(configuration: { $0.timeoutIntervalForRequest = 1 })
    let error = try await direct.error(DirectSession.request(origin.url("/", host: "shop.test")))
    #expect(error.code == .timedOut && error.directError?.message.contains("sent nothing more") == true)
    await direct.end()
    await origin.stop()
  }

  @Test func `what comes counts for the pauses of a body, though it decodes to nothing`() async throws {
    let gates = (0..<3).map { _ in Gate() }
    // A member of gzip whose name is long (RFC 1952 §2.3), then `ok` in a stored block, its checksum and length.
    let head: [UInt8] = [0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 255]
    let rest: [UInt8] = [0, 1, 2, 0, 0xfd, 0xff, 0x6f, 0x6b, 0x47, 0xdd, 0xdc, 0x79, 2, 0, 0, 0]
    let origin = try await start { request in
      if request.path == "/silent" { try await Gate().pass() }
      return OriginResponse(fields: [.contentEncoding: "gzip"]) { body in
        try await body.write(head)
        for gate in gates {
          try await gate.pass()
          try await body.write("name")
        }
        try await body.write(rest)
      }
    }
    let direct = try DirectSession(configuration: { $0.timeoutIntervalForRequest = 2 })
    let url = origin.url("/", host: "shop.test")
    let silent = try DirectSession.request(origin.url("/silent", host: "shop.test")) { $0.timeoutInterval = 0.8 }
    let text = Task { try await direct.text(url).text }
    for gate in gates {
      await gate.waitForArrivals()
      // Another request's time is over before the body goes on.
      #expect(try await direct.error(silent).code == .timedOut)
      gate.open()
    }
    #expect(try await text.value == "ok")
    await direct.end()
    await origin.stop()
  }

  @Test func `the response's URL is the one that was asked for after a redirect`() async throws {
    let origin = try await start { request in
      request.path == "/go" ? OriginResponse(.found, fields: [.location: "/a|b%20c?%"]) : OriginResponse()
    }
    let direct = try DirectSession()
    let response = try await direct.text(origin.url("/go", host: "shop.test")).response
    let url = try #require(response.url?.absoluteString)
    #expect(url == origin.url("/a%7Cb%20c?%25", host: "shop.test"))
    #expect(origin.requests.last?.target == "/a|b%20c?%")
    await direct.end()
    await origin.stop()
  }

  @Test func `a task that is resumed twice is sent once`() async throws {
    let origin = try await start { _ in OriginResponse(body: "once") }
    let recorder = DelegateRecorder()
    let direct = try DirectSession(delegate: recorder)
    let task = direct.session.dataTask(with: try DirectSession.request(origin.url("/", host: "shop.test")))
    task.resume()
    task.resume()
    #expect(await recorder.end().sizes == [4] && origin.requests.count == 1)
    await direct.end()
    await origin.stop()
  }

  @Test func `without a server there is an error with each address`() async throws {
    let origin = try await FakeOrigin.start()
    let url = origin.url("/", host: "shop.test")
    await origin.stop()
    let direct = try DirectSession()
    let error = try await direct.error(DirectSession.request(url))
    #expect(error.code == .cannotConnectToHost && error.failingURL?.absoluteString == url)
    #expect(error.directError?.attempts.map(\.server) == ["127.0.0.1"])
    await direct.end()
  }
}
