// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

/// What a client does when something is broken on the way.
@Suite(.timeLimit(.minutes(1)))
struct DirectClientFailureTests {
  func request(_ method: HTTPRequest.Method, _ origin: FakeOrigin) throws -> HTTPRequest {
    HTTPRequest(method: method, url: try WebURL(origin.url("/", host: "shop.test")))
  }

  struct Dead: Error {}

  @Test func `a body that fails ends the request with its own error`() async throws {
    let origin = try await FakeOrigin.start()
    let client = try ClientSample.client()
    let error = await #expect(throws: DirectDNSError.self) {
      try await client.execute(
        request(.put, origin), body: .stream(AsyncThrowingStream { $0.finish(throwing: Dead()) }))
    }
    #expect(error?.code == .bodyFailed && error?.underlying is Dead)
    await client.shutdown()
    await origin.stop()
  }

  @Test func `a body that fails in its middle does not arrive as a shorter one`() async throws {
    let origin = try await FakeOrigin.start()
    let client = try ClientSample.client()
    let pieces = AsyncThrowingStream<[UInt8], any Error> { pieces in
      pieces.yield([1, 2, 3])
      pieces.finish(throwing: Dead())
    }
    let error = await #expect(throws: DirectDNSError.self) {
      try await client.execute(request(.put, origin), body: .stream(pieces))
    }
    #expect(error?.code == .bodyFailed && error?.underlying is Dead)
    await client.shutdown()
    // It has read by then all that has come.
    #expect(await origin.waitForOpenConnections(0))
    #expect(origin.requests.isEmpty)
    await origin.stop()
  }

  @Test func `without any address that answers, every one that was tried is told`() async throws {
    let client = try ClientSample.client(names: ["shop.test": ["127.0.0.2", "127.0.0.3"]])
    let error = await #expect(throws: DirectDNSError.self) {
      try await client.execute(ClientSample.get("http://shop.test:1/"))
    }
    #expect(error?.code == .connectFailed)
    #expect(Set(error?.attempts.map(\.server) ?? []) == ["127.0.0.2", "127.0.0.3"])
    await client.shutdown()
  }

  @Test(
    arguments: [
      ("http://proxy.test:3128", "https://shop.test/", "https://shop.test"),
      ("https://proxy.test:3128", "http://shop.test/", "the proxy https://proxy.test:3128"),
      (
        "https://proxy.test:3128", "https://shop.test/",
        "the proxy https://proxy.test:3128 or with https://shop.test"
      ),
    ])
  func `where TLS fails, the proxy is named if it may be the proxy's`(proxy: String, url: String, peer: String) throws {
    var configuration = DirectClientConfiguration()
    configuration.proxy = .url(try WebURL(proxy))
    let context = RequestContext(
      try WebURL(url), RequestTimeouts(), try ClientSettings(configuration), isRetryable: true)
    #expect(context.error(TransferFailure(.tls("no"))).message == "TLS with \(peer) failed: no.")
    let local = context.error(TransferFailure(.tlsSetup("no"))).message
    #expect(local.hasPrefix("TLS with \(peer) could not be set up on this machine: no"))
  }

  @Test(arguments: [
    ("SSL routines::tlsv13 alert certificate required", "show the server a certificate that it takes (identity)"),
    ("self-signed certificate", "add the authority that signed it to the trust store (trust)"),
    ("certificate has expired", "if this machine's clock is right, whoever runs the server has to renew it"),
    ("certificate is not yet valid", "check this machine's clock"),
    ("wrong version number", "what answers there speaks no TLS: check the scheme and the port in the URL"),
    ("no subject name matches", "check the host in the URL, and that its addresses are those of the right server"),
  ])
  func `where a certificate is refused, it is said what helps whom it belongs to`(
    _ reason: String, _ advice: String
  ) throws {
    let context = RequestContext(
      try WebURL("https://shop.test/"), RequestTimeouts(), try ClientSettings(DirectClientConfiguration()),
      isRetryable: true)
    let error = context.error(TransferFailure(.init(reason: .tls(reason), delivery: .mayHaveArrived)))
    #expect(error.code == .tlsFailed && error.mayHaveReachedServer)
    #expect(error.message == "TLS with https://shop.test failed: \(reason); \(advice).")
  }

  @Test(arguments: [("http://shop.test", " through the proxy http://proxy.test:3128"), ("https://shop.test", "")])
  func `where a response without a tunnel is late, cut off or too large, the proxy is named beside the origin`(
    _ origin: String, _ way: String
  ) throws {
    var configuration = DirectClientConfiguration()
    configuration.proxy = .url(try WebURL("http://user:word@proxy.test:3128"))
    let context = RequestContext(
      try WebURL(origin + "/path"), RequestTimeouts(), try ClientSettings(configuration), isRetryable: true)
    let failures: [(HTTPTransportError, TransferFailure.Timer?, TransferFailure.Delivery, Bool, String)] = [
      (.timedOut, .firstByte, .mayHaveArrived, false, "\(way) was silent for "),
      (.timedOut, .idle, .mayHaveArrived, true, "\(way) has sent nothing more of its response for "),
      (.timedOut, .total, .mayHaveArrived, true, "\(way) was not done within "),
      (.fieldsTooLarge, nil, .mayHaveArrived, false, "\(way) sent header fields and trailers of more than "),
      (.bodyTooLarge, nil, .mayHaveArrived, true, "\(way) decodes to more than can be kept: "),
      (.connectionLost("x"), nil, .inPart, false, "\(way) answered with success before it had "),
      (.malformedResponse("x"), nil, .mayHaveArrived, true, "'s response\(way) cannot be read: x."),
    ]
    for (reason, timer, delivery, inBody, words) in failures {
      let failure = TransferFailure(.init(reason: reason, delivery: delivery, timer: timer))
      let message = context.error(failure, inBody: inBody).message
      #expect(message.contains("\(origin)\(words)"), "\(message)")
    }
  }

  @Test(arguments: [("http://shop.test/", false), ("https://shop.test/", true)])
  func `where it may be a proxy that wants a certificate, it is said that none is shown to it`(
    _ url: String, _ mayBeOrigin: Bool
  ) throws {
    var configuration = DirectClientConfiguration()
    configuration.proxy = .url(try WebURL("https://proxy.test:3128"))
    let context = RequestContext(
      try WebURL(url), RequestTimeouts(), try ClientSettings(configuration), isRetryable: true)
    let message = context.error(TransferFailure(.tls("tlsv13 alert certificate required"))).message
    #expect(message.hasSuffix("; a proxy is shown none: put stunnel, which can show one, before it."))
    #expect(message.contains("(identity)") == mayBeOrigin)
  }

  @Test func `an address that is found forbidden when it is dialled is told as one that was before`() throws {
    let context = RequestContext(
      try WebURL("http://shop.test/"), RequestTimeouts(), try ClientSettings(DirectClientConfiguration()),
      isRetryable: true)
    let forbidden = IPAddress.ipv4(0x7F00_0001)
    let error = context.error(TransferFailure(.init(reason: .connect("not dialled"), forbidden: forbidden)))
    let objection = AddressPolicy.publicOnly.objection(to: forbidden, host: WebURL.Host.name("shop.test"))
    #expect(error.code == .addressForbidden && error.message == objection?.description && !error.mayHaveReachedServer)
  }

  @Test func `a task that was cancelled before sends nothing`() async throws {
    let origin = try await FakeOrigin.start()
    let client = try ClientSample.client()
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return try await client.execute(request(.get, origin))
    }
    let error = await #expect(throws: DirectDNSError.self) { try await task.value }
    #expect(error?.code == .cancelled && error?.underlying is CancellationError && origin.requests.isEmpty)
    await client.shutdown()
    await origin.stop()
  }
}
