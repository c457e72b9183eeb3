// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import dnsctl_proxy

@Suite("What a program learns of its proxy")
struct ChildEnvironmentTests {
  @Test func `programs are pointed at it, and nothing goes past it`() {
    let variables = ChildEnvironment(
      ["PATH": "/bin", "no_proxy": "*", "NO_PROXY": "*", "HTTP_PROXY": "http://other", "http_proxy": "http://other"],
      host: "127.0.0.1", port: 1234, tellsJava: false
    ).variables
    let url = "http://127.0.0.1:1234"
    #expect(
      variables == [
        "PATH": "/bin", "http_proxy": url, "https_proxy": url, "HTTPS_PROXY": url, "all_proxy": url,
        "ws_proxy": url, "wss_proxy": url, "NODE_USE_ENV_PROXY": "1",
      ])
  }

  @Test func `Java is told where that is asked for, beside what it is told already`() {
    let inherited = ["JAVA_TOOL_OPTIONS": "-Xmx1g"]
    let variables = ChildEnvironment(inherited, host: "127.0.0.1", port: 1, tellsJava: true).variables
    #expect(
      variables["JAVA_TOOL_OPTIONS"]
        == "-Xmx1g -Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=1 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=1 -Dhttp.nonProxyHosts="
    )
  }
}
