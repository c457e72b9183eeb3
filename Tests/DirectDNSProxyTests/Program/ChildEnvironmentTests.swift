// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import dnsctl_proxy

@Suite("What a program learns of its proxy")
struct ChildEnvironmentTests {
  private func bytes(_ texts: [String]) -> [[UInt8]] { texts.map { Array($0.utf8) } }

  @Test func `programs are pointed at it, and nothing goes past it`() {
    let environment = ChildEnvironment(javaOptions: nil, host: "127.0.0.1", port: 1234, tellsJava: false)
    let inherited = [
      "PATH=/bin", "no_proxy=*", "NO_PROXY=*", "HTTP_PROXY=http://other", "http_proxy=http://other", "no_proxy_x=1",
      "=",
    ]
    let url = "http://127.0.0.1:1234"
    let told = [
      "HTTPS_PROXY=\(url)", "NODE_USE_ENV_PROXY=1", "all_proxy=\(url)", "http_proxy=\(url)", "https_proxy=\(url)",
      "ws_proxy=\(url)", "wss_proxy=\(url)",
    ]
    #expect(
      environment.variables(over: bytes(inherited)) == bytes(["PATH=/bin", "no_proxy_x=1", "="] + told))
  }

  @Test func `other variables stay as they are, byte for byte`() {
    let odd: [[UInt8]] = [[0x57, 0xe9, 0x3d, 0xff], Array("NAME".utf8), []]
    let environment = ChildEnvironment(javaOptions: nil, host: "127.0.0.1", port: 1, tellsJava: false)
    #expect(environment.variables(over: odd).starts(with: odd))
  }

  @Test func `Java is told where that is asked for, beside what it is told already`() {
    let environment = ChildEnvironment(javaOptions: "-Xmx1g", host: "127.0.0.1", port: 1, tellsJava: true)
    let options =
      "-Xmx1g -Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=1 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=1 -Dhttp.nonProxyHosts="
    let java = environment.variables(over: bytes(["JAVA_TOOL_OPTIONS=-Xmx1g"])).filter {
      $0.starts(with: "JAVA_TOOL_OPTIONS".utf8)
    }
    #expect(java == bytes(["JAVA_TOOL_OPTIONS=\(options)"]))
  }
}
