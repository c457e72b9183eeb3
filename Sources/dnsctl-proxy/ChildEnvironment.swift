// SPDX-License-Identifier: Apache-2.0
/// The variables by which programs learn of a proxy: a pure function of those that are set already.
struct ChildEnvironment {
  /// The variables that name the proxy.
  private let added: [String: String]
  /// Variables that would lead around it.
  private static let dropped = ["no_proxy", "NO_PROXY", "HTTP_PROXY", "ALL_PROXY"]

  /// Points programs at a proxy.
  ///
  /// - Parameters:
  ///   - javaOptions: what `JAVA_TOOL_OPTIONS` holds already.
  ///   - host: the proxy's address, IPv6 in brackets.
  ///   - port: its port.
  ///   - tellsJava: whether Java is told, too; it says so on standard error each time it starts.
  init(javaOptions: String?, host: String, port: UInt16, tellsJava: Bool) {
    var variables: [String: String] = [:]
    let url = "http://\(host):\(port)"
    // Not HTTP_PROXY: a CGI program gets a request's field `Proxy` in it (CVE-2016-5385), and programs that read it
    // read the lower-case one first. aiohttp reads ws_proxy and wss_proxy, by the scheme of a WebSocket.
    for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ws_proxy", "wss_proxy"] {
      variables[name] = url
    }
    variables["NODE_USE_ENV_PROXY"] = "1"
    if tellsJava {
      let options = [
        "-Dhttp.proxyHost=\(host)", "-Dhttp.proxyPort=\(port)", "-Dhttps.proxyHost=\(host)",
        "-Dhttps.proxyPort=\(port)", "-Dhttp.nonProxyHosts=",
      ]
      variables["JAVA_TOOL_OPTIONS"] =
        ([javaOptions].compactMap(\.self) + options).joined(separator: " ")
    }
    added = variables
  }

  /// The variables of a program, each `NAME=VALUE`: the inherited ones, byte for byte, with those about proxies
  /// replaced.
  func variables(over inherited: [[UInt8]]) -> [[UInt8]] {
    let names = Set((added.keys + Self.dropped).map { Array($0.utf8) })
    return inherited.filter { !names.contains(Array($0.prefix { $0 != UInt8(ascii: "=") })) }
      + added.sorted { $0.key < $1.key }.map { Array("\($0.key)=\($0.value)".utf8) }
  }
}
