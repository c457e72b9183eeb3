// SPDX-License-Identifier: Apache-2.0
internal import CoreMetrics
public import DirectDNS

/// A proxy's metrics; nothing is done while nobody collects.
struct ProxyTelemetry: Sendable {
  private let metrics = MetricSource()
  private let openTunnels = Locked(0)

  func clients(_ count: Int) { metrics.set(.proxyClients, to: count) }

  func tunnels(_ change: Int) {
    guard metrics.isCollected else { return }
    metrics.set(
      .proxyTunnels,
      to: openTunnels.withLock { count in
        count += change
        return count
      })
  }

  func failedConnect() { metrics.count(.proxyFailedConnections) }

  func retried() { metrics.count(.proxyRetries) }

  /// A request or a tunnel has ended; its labels have no name of a host, and no text of a client's.
  func ended(_ access: ProxyAccess) {
    guard metrics.isCollected else { return }
    let error = access.error.map { String($0.prefix { $0 != ";" }) }
    let outcome = error ?? access.status.map { "\($0 / 100)xx" } ?? "none"
    metrics.count(.proxyRequests, access.kind.rawValue, outcome)
    if access.received > 0 { metrics.count(.proxyBytes, "received", by: access.received) }
    if access.sent > 0 { metrics.count(.proxyBytes, "sent", by: access.sent) }
    if let connect = access.connect { metrics.record(.proxyConnectTime, duration: connect) }
  }
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
