// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct TransferRequestTests {
  private static let message = TransferMessage(url: "https://name.example/", method: "GET", fields: [])

  private static func changed(_ change: (inout TransferMessage) -> Void) -> TransferMessage {
    var message = message
    change(&message)
    return message
  }

  private func request(
    _ message: TransferMessage = Self.message, _ body: TransferRequest.Body = .none, isRetryable: Bool = true,
    canStartOver: Bool = true, usesTLS: Bool = true, _ version: HTTPVersionChoice = .automatic,
    watcher: TransferWatcher = TransferWatcher()
  ) -> TransferRequest {
    TransferRequest(
      route: CurlRoute(
        origin: "name.example", usesTLS: usesTLS, version: version, proxy: nil, showsIdentity: false),
      terms: TransferTerms(
        isRetryable: isRetryable, canStartOver: canStartOver, connectTimeout: 1, firstByteTimeout: 1, deadline: 1),
      target: TransferTarget(port: 443, host: .address(.ipv4(1)), policy: AddressPolicy()), message: message,
      body: body, watcher: watcher)
  }

  @Test(arguments: [
    (message, true), (changed { $0.method = "HEAD" }, false), (changed { $0.hasOwnHost = true }, false),
    (changed { $0.trailers = [1] }, false), (changed { $0.decompresses = true }, false),
    (changed { $0.fields = [1] }, true),
  ])
  func `after an unusual message a handle is reset`(_ message: TransferMessage, _ isPlain: Bool) {
    #expect(request(message).isPlain == isPlain)
  }

  @Test func `after a body, or events that somebody follows, a handle is reset`() {
    #expect(!request(Self.message, .bytes([1])).isPlain)
    #expect(!request(Self.message, watcher: TransferWatcher(observer: { _ in })).isPlain)
    #expect(request(Self.message, watcher: TransferWatcher(progress: { _ in })).isPlain)
  }

  @Test(arguments: [(65_536, true), (65_537, false)])
  func `libcurl gets a copy of a body of up to 64 KiB without trailers`(_ count: Int, _ isInline: Bool) {
    let body = TransferRequest.Body.bytes(Array(repeating: 0, count: count))
    #expect(request(Self.message, body).isInline == isInline && request(Self.message, body).isSmall == isInline)
    #expect(!request(Self.changed { $0.trailers = [1] }, body).isInline)
    #expect(request().isSmall && !request().isInline)
  }

  @Test(arguments: [
    (true, true, true, HTTPVersionChoice.automatic, false), (false, false, true, .automatic, false),
    (false, true, true, .automatic, true), (false, true, false, .automatic, false), (false, true, true, .http1, false),
    (false, true, false, .http2, true),
  ])
  func `the stream is followed where a request may be retried only if HTTP/2 refused it`(
    _ isRetryable: Bool, _ canStartOver: Bool, _ usesTLS: Bool, _ version: HTTPVersionChoice, _ follows: Bool
  ) {
    let request = request(
      Self.changed { $0.method = "POST" }, .bytes([1]), isRetryable: isRetryable, canStartOver: canStartOver,
      usesTLS: usesTLS, version)
    #expect(request.followsStream == follows)
  }

  @Test func `a request that has ended lets go of what the caller gave`() {
    let request = request(Self.message, .bytes([1]), watcher: TransferWatcher(observer: { _ in }, progress: { _ in }))
    request.release()
    #expect(request.watcher.observer == nil && request.watcher.progress == nil && request.target.others == nil)
    guard case .none = request.body else { return #expect(Bool(false), "the body is still there") }
  }
}
