// SPDX-License-Identifier: Apache-2.0
/// A proxy, and the addresses of its host.
struct CurlProxy: Hashable, Sendable {
  /// A name, a port, and the name's addresses in the order of use.
  ///
  /// The order is left out of comparisons: it changes while the proxy stays the same.
  struct ResolvedHost: Hashable, Sendable {
    let host: String
    let port: UInt16
    let addresses: [IPAddress]

    /// `HOST:PORT:ADDRESS,…`, so that libcurl does not look the proxy up by itself.
    var resolveEntry: String {
      "\(host):\(port):" + addresses.map { "\(WebURL.Host.address($0))" }.joined(separator: ",")
    }

    static func == (left: Self, right: Self) -> Bool {
      left.host == right.host && left.port == right.port && Set(left.addresses) == Set(right.addresses)
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(host)
      hasher.combine(port)
      hasher.combine(Set(addresses))
    }
  }

  /// Always with the port: without one, libcurl would take 1080 for an http proxy, and the URL standard leaves out 80.
  let url: String
  /// Nil if the URL has an address instead of a name.
  let resolvedHost: ResolvedHost?

  init(_ proxy: WebURL, resolvedHost: ResolvedHost?) {
    url = "\(proxy.scheme.rawValue)://\(proxy.userInfo)\(proxy.host):\(proxy.effectivePort)/"
    self.resolvedHost = resolvedHost
  }
}
