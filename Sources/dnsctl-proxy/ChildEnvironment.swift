// SPDX-License-Identifier: Apache-2.0
/// The variables by which programs learn of a proxy: a pure function of what stands there already.
struct ChildEnvironment {
  let variables: [String: String]

  /// Points programs at a proxy.
  ///
  /// - Parameters:
  ///   - inherited: what the process was started with.
  ///   - host: the proxy's address, IPv6 in brackets.
  ///   - port: its port.
  ///   - tellsJava: whether Java is told, too; it says so on standard error each time it starts.
  init(_ inherited: [String: String], host: String, port: UInt16, tellsJava: Bool) {
    var variables = inherited
    let url = "http://\(host):\(port)"
    // Not HTTP_PROXY: a CGI program takes it for a field of a request's (CVE-2016-5385), and whoever reads it reads the
    // lower-case one first.
    // ws_proxy and wss_proxy are aiohttp's, which looks its WebSockets' proxies up by their schemes.
    for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ws_proxy", "wss_proxy"] {
      variables[name] = url
    }
    for name in ["no_proxy", "NO_PROXY", "HTTP_PROXY", "ALL_PROXY"] { variables[name] = nil }
    variables["NODE_USE_ENV_PROXY"] = "1"
    if tellsJava {
      let options = [
        "-Dhttp.proxyHost=\(host)", "-Dhttp.proxyPort=\(port)", "-Dhttps.proxyHost=\(host)",
        "-Dhttps.proxyPort=\(port)", "-Dhttp.nonProxyHosts=",
      ]
      variables["JAVA_TOOL_OPTIONS"] =
        ([inherited["JAVA_TOOL_OPTIONS"]].compactMap(\.self) + options).joined(separator: " ")
    }
    self.variables = variables
  }
}
