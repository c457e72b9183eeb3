// SPDX-License-Identifier: Apache-2.0
internal import Tracing

/// The spans of one transfer's connections, from the dialling of each address to the end of its TLS handshake.
///
/// Told by the loop's thread; a connection that stood makes none.
final class ConnectTelemetry: Sendable {
  private let tracer: any Tracer
  private let parent: ServiceContext
  private let port: UInt16
  private let open = Locked<[IPAddress: any Span]>([:])

  init(_ tracer: any Tracer, below parent: ServiceContext, port: UInt16) {
    self.tracer = tracer
    self.parent = parent
    self.port = port
  }

  func note(_ event: CurlEvent) {
    switch event {
    case .connecting(let address): begin(address)
    case .failed(let address, let error): end(address, error.code.description)
    case .connected(let address, let isReused):
      if let address, !isReused { end(address, nil) }
      endAll()
    case .secured: break
    }
  }

  /// Nothing comes of those that are under way: another one won, or nobody waits for them any more.
  func endAll() {
    for address in open.withLock({ Array($0.keys) }) { end(address, HTTPTransportError.cancelled.code.description) }
  }

  private func begin(_ address: IPAddress) {
    let span = tracer.startAnySpan("connect", context: parent, ofKind: .client)
    span.attributes["network.peer.address"] = address.description
    span.attributes["network.peer.port"] = Int(port)
    span.attributes["network.transport"] = "tcp"
    let last = open.withLock { open in open.updateValue(span, forKey: address) }
    last?.end()
  }

  private func end(_ address: IPAddress, _ error: String?) {
    guard let span = open.withLock({ $0.removeValue(forKey: address) }) else { return }
    if let error {
      span.attributes["error.type"] = error
      span.setStatus(SpanStatus(code: .error))
    }
    span.end()
  }
}
