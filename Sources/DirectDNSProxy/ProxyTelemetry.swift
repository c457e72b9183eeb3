// SPDX-License-Identifier: Apache-2.0
internal import CoreMetrics
public import DirectDNS
internal import Tracing

/// The metrics and spans of a proxy; it does nothing if nobody collects them.
///
/// Each request and tunnel has a span, by the semantic conventions of OpenTelemetry for HTTP servers. Its parent is the
/// one that the request's `traceparent` names, and the spans of its lookup are its children.
struct ProxyTelemetry: Sendable {
  private let metrics = MetricSource()
  private let tracer: (any Tracer)?
  // A gauge is set with the lock held: otherwise a loop could set what it was before another loop's change, behind it.
  private let openTunnels = Locked(0)
  private let clientsTurn = Locked(())

  /// Uses the metrics system and the tracer of the process, which have to be set up before.
  init(_ tracer: any Tracer = InstrumentationSystem.tracer) {
    self.tracer = tracer is NoOpTracer ? nil : tracer
    metrics.beginPolicyRefusals()
    begin()
  }

  /// Sets what has no label, or whose labels are known, to 0: a rate over something that is not there yet misses its
  /// first events.
  private func begin() {
    guard metrics.isCollected else { return }
    for gauge in [MetricDescription.proxyClients, .proxyTunnels] { metrics.set(gauge, to: 0) }
    for counter in [MetricDescription.proxyFailedConnections, .proxyRetries] { metrics.count(counter, by: 0) }
    for direction in ["received", "sent"] { metrics.count(.proxyBytes, direction, by: 0) }
  }

  func clients(_ clients: LimitedCount) {
    guard metrics.isCollected else { return }
    clientsTurn.withLock { _ in metrics.set(.proxyClients, to: clients.value) }
  }

  func tunnels(_ change: Int) {
    guard metrics.isCollected else { return }
    openTunnels.withLock { count in
      count += change
      metrics.set(.proxyTunnels, to: count)
    }
  }

  func failedConnect() { metrics.count(.proxyFailedConnections) }

  /// A policy, or a rule of the proxy, refused a request.
  func refused(by code: DirectDNSError.Code) { metrics.policyRefused(by: code) }

  func retried() { metrics.count(.proxyRetries) }

  /// Begins the span of a request or tunnel.
  func begin(_ access: inout ProxyAccess, to origin: ForwardOrigin?, _ head: MessageHead?) {
    guard let tracer, !access.isProbe else { return }
    var context = ServiceContext.topLevel
    if let head { tracer.extract(head, into: &context, using: FieldExtractor()) }
    // A request that could not be read has no method that is known either.
    let method = access.kind.isSOCKS ? nil : Self.label(of: access.method)
    let isOther = method == Self.otherMethod
    let span = tracer.startAnySpan(
      isOther ? "HTTP" : method ?? access.kind.rawValue, context: context, ofKind: .server)
    span.attributes["http.request.method"] = method
    if isOther, !access.method.isEmpty { span.attributes["http.request.method_original"] = access.method }
    span.attributes["network.protocol.name"] = method == nil ? "socks" : "http"
    span.attributes["server.address"] = origin.map { "\($0.host)" }
    span.attributes["server.port"] = origin.map { Int($0.port) }
    span.attributes["client.address"] = access.client?.description
    access.span = span
  }

  /// What stands for a method that is none of the standards'.
  private static let otherMethod = "_OTHER"

  /// A standard method, or `_OTHER` as in the conventions, since a client can send any text as a method.
  private static func label(of method: String) -> String {
    let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "TRACE"]
    return known.contains(method) ? method : otherMethod
  }

  private func end(_ span: any Span, _ access: ProxyAccess) {
    span.attributes["http.response.status_code"] = access.kind.isSOCKS ? nil : access.status
    span.attributes["directdns.address"] = access.address?.description
    span.attributes["directdns.upstream"] = access.upstream?.description
    let error = access.error.map { String($0.prefix { $0 != ";" }) }
    if error != nil || access.status ?? 0 >= 500 {
      span.attributes["error.type"] = error ?? access.status.map { "\($0)" }
      // What a server refuses its client for the client's own fault is no error of the server.
      if !(400..<500).contains(access.status ?? 0) { span.setStatus(SpanStatus(code: .error)) }
    }
    span.end()
  }

  private struct FieldExtractor: Extractor {
    func extract(key: String, from head: MessageHead) -> String? {
      head.values(named: key.lowercased()).first.map(head.text)
    }
  }

  /// A request or a tunnel has ended; no label contains a host name or text from a client.
  func ended(_ access: ProxyAccess) {
    if let span = access.span { end(span, access) }
    // Health checks every few seconds would make up most of the numbers.
    guard metrics.isCollected, !access.isProbe else { return }
    let error = access.error.map { String($0.prefix { $0 != ";" }) }
    let outcome = error ?? access.status.map { "\($0 / 100)xx" } ?? "none"
    metrics.count(.proxyRequests, access.kind.rawValue, outcome)
    if access.received > 0 { metrics.count(.proxyBytes, "received", by: access.received) }
    if access.sent > 0 { metrics.count(.proxyBytes, "sent", by: access.sent) }
    if let connect = access.connect { metrics.record(.proxyConnectTime, duration: connect) }
  }
}

extension ProxyAccess.Kind {
  fileprivate var isSOCKS: Bool { self == .socks4 || self == .socks5 }
}

extension MetricDescription {
  /// All metrics of a proxy.
  public static let proxy: [Self] = [
    proxyClients, proxyTunnels, proxyRequests, proxyBytes, proxyConnectTime, proxyFailedConnections, proxyRetries,
  ]

  static let proxyClients = Self("directdns_proxy_clients", .gauge, [], "Clients that are connected.")
  static let proxyTunnels = Self("directdns_proxy_tunnels", .gauge, [], "Tunnels that are open.")
  static let proxyRequests = Self(
    "directdns_proxy_requests_total", .counter, ["kind", "outcome"],
    "Requests and tunnels that ended, by kind, and by status or the error of RFC 9209.")
  static let proxyBytes = Self(
    "directdns_proxy_bytes_total", .counter, ["direction"], "Bytes of bodies and tunnels, from clients and to them.")
  static let proxyConnectTime = Self(
    "directdns_proxy_connect_duration_seconds", .timer, [], "How long looking up and connecting took.")
  static let proxyFailedConnections = Self(
    "directdns_proxy_failed_connections_total", .counter, [], "Addresses that could not be connected to.")
  static let proxyRetries = Self(
    "directdns_proxy_retries_total", .counter, [],
    "Requests that were sent once more, since the server had closed a connection that was kept.")
}
