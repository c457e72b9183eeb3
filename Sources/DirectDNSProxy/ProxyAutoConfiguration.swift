// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The file that tells a browser to use the proxy.
///
/// It says `DIRECT` for nothing but what the configuration names so: a browser that falls back to it asks the machine's DNS
/// in the clear as soon as the proxy is gone. Functions that ask DNS (`isInNet`, `dnsResolve`) stand nowhere in it.
struct ProxyAutoConfiguration {
  let text: String

  /// Creates it for a proxy at `HOST:PORT`.
  init(place: String, _ configuration: ProxyConfiguration) {
    var lines = ["function FindProxyForURL(url, host) {"]
    if case .offUnder(let suffixes) = configuration.direct {
      for suffix in suffixes {
        lines.append("  if (host === \"\(suffix)\" || dnsDomainIs(host, \".\(suffix)\")) return \"DIRECT\";")
      }
    }
    lines.append("  return \"PROXY \(place)\";")
    lines.append("}")
    text = lines.joined(separator: "\n") + "\n"
  }
}
