// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes
internal import Tracing

/// Metrics and spans of requests, by the semantic conventions of OpenTelemetry for HTTP clients.
///
/// It does nothing unless the process has a tracer or collects metrics.
struct ClientTelemetry: Sendable {
  private let tracer: (any Tracer)?
  private let metrics: MetricSource
  /// Whether anybody collects what it measures.
  let isActive: Bool

  /// Uses the tracer and the metrics system of the process, which have to be set up before the client is created.
  init() {
    tracer = LookupSpan.tracer
    metrics = MetricSource()
    isActive = tracer != nil || metrics.isCollected
    metrics.beginPolicyRefusals()
  }

  /// Begins to watch one request, and adds the fields with which its server can continue the trace.
  func begin(_ method: HTTPRequest.Method, _ url: WebURL, _ fields: inout HTTPFields, hop: Int) -> Watch {
    let label = Self.label(of: method)
    var span: (any Span)?
    if let tracer {
      // By `HTTP` where the method is none of the standards': backends tell spans by names, which must be few.
      let started = tracer.startAnySpan(
        label == Self.otherMethod ? "HTTP" : label, context: ServiceContext.current ?? .topLevel, ofKind: .client)
      started.attributes["http.request.method"] = label
      if label == Self.otherMethod { started.attributes["http.request.method_original"] = method.rawValue }
      started.attributes["server.address"] = url.host.description
      started.attributes["server.port"] = Int(url.effectivePort)
      // Without user info, and without the query, which may hold a signature.
      started.attributes["url.full"] = "\(Origin(url))\(url.path)"
      if hop > 0 { started.attributes["http.request.resend_count"] = hop }
      tracer.inject(started.context, into: &fields, using: FieldInjector())
      span = started
    }
    return Watch(tracer, span, method: label, metrics)
  }

  /// What stands for a method that is none of the standards'.
  private static let otherMethod = "_OTHER"

  /// A standard method, or `_OTHER` as the conventions require: any text can be a method.
  static func label(of method: HTTPRequest.Method) -> String {
    let known: [HTTPRequest.Method] = [.get, .head, .post, .put, .delete, .patch, .options, .connect, .trace]
    return known.contains(method) ? method.rawValue : otherMethod
  }

  /// Addresses could not be connected to.
  func failed(_ addresses: [FailedAddress]) {
    for failed in addresses { metrics.count(.failedConnections, failed.reason.code.description) }
  }

  /// Why a request is sent again.
  enum Retry: String {
    /// The server refused it unprocessed.
    case refused
    /// The connection ended before a response came.
    case connectionLost
    /// The server refused the expectation (417).
    case expectation
  }

  func retries(_ reason: Retry) { metrics.count(.retries, reason.rawValue) }

  /// One request that is watched.
  ///
  /// A class, so that passing on nil costs nothing: most requests are not watched.
  final class Watch: Sendable {
    private let tracer: (any Tracer)?
    private let span: (any Span)?
    private let began: ResolverInstant
    private let method: String
    private let metrics: MetricSource

    fileprivate init(_ tracer: (any Tracer)?, _ span: (any Span)?, method: String, _ metrics: MetricSource) {
      self.tracer = tracer
      self.span = span
      began = SystemClock().now
      self.method = method
      self.metrics = metrics
    }

    /// The spans of the connections that one transfer tries to make, if there is a tracer.
    func connecting(to port: UInt16) -> ConnectTelemetry? {
      guard let tracer, let span else { return nil }
      return ConnectTelemetry(tracer, below: span.context, port: port)
    }

    /// Runs a body whose spans belong below the request's span.
    nonisolated(nonsending) func within<Value: Sendable>(
      _ body: nonisolated(nonsending) () async throws(DirectDNSError) -> Value
    ) async throws(DirectDNSError) -> Value {
      guard let span else { return try await body() }
      let result = await ServiceContext.$current.withValue(span.context) { () async -> Result<Value, DirectDNSError> in
        do throws(DirectDNSError) { return .success(try await body()) } catch { return .failure(error) }
      }
      return try result.get()
    }

    /// The response's head has come, over that connection.
    func end(status: Int, version: String, address: IPAddress?, port: UInt16, isReused: Bool) {
      if let span {
        span.attributes["http.response.status_code"] = status
        span.attributes["network.protocol.version"] = version
        span.attributes["network.peer.address"] = address?.description
        span.attributes["network.peer.port"] = Int(port)
        if status >= 400 {
          span.attributes["error.type"] = "\(status)"
          span.setStatus(SpanStatus(code: .error))
        }
        span.end()
      }
      count(outcome: "\(status / 100)xx")
      metrics.count(.connections, isReused ? "reused" : "opened")
    }

    /// There is no response.
    func end(_ error: DirectDNSError) {
      if let span {
        span.attributes["error.type"] = error.code.description
        span.setStatus(SpanStatus(code: .error, message: error.message))
        span.end()
      }
      count(outcome: error.code.description)
      metrics.policyRefused(by: error.code)
    }

    private func count(outcome: String) {
      metrics.count(.requests, method, outcome)
      metrics.record(.requestTime, method, outcome, duration: SystemClock().now - began)
    }
  }

  private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into fields: inout HTTPFields) {
      guard let name = HTTPField.Name(key) else { return }
      fields[name] = value
    }
  }
}

/// The spans of one transfer's connections, each from the attempt to connect to an address to the end of its TLS
/// handshake.
///
/// The loop's thread tells it the events; a connection that is reused has no span.
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
    case .secured, .wire: break
    }
  }

  /// Ends the spans of attempts that are under way: another one won, or nobody waits for them any more.
  func endAll() {
    for address in open.withLock({ Array($0.keys) }) { end(address, HTTPTransportError.cancelled.code.description) }
  }

  private func begin(_ address: IPAddress) {
    let span = tracer.startAnySpan("connect", context: parent, ofKind: .client)
    span.attributes["network.peer.address"] = address.description
    span.attributes["network.peer.port"] = Int(port)
    span.attributes["network.transport"] = "tcp"
    open.withLock { $0.updateValue(span, forKey: address) }?.end()
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

extension MetricSource {
  /// The codes of errors by which a policy refuses a request.
  private static let refusals: Set<DirectDNSError.Code> = [.addressForbidden, .redirectRefused, .refused]

  /// Counts a request that failed so, if it was a policy that refused it.
  package func policyRefused(by code: DirectDNSError.Code) {
    if Self.refusals.contains(code) { count(.policyRefusals, code.description) }
  }

  /// Creates the series early: an alert on the rate of one does not see it if it begins with 1.
  package func beginPolicyRefusals() {
    for code in Self.refusals { count(.policyRefusals, code.description, by: 0) }
  }
}
