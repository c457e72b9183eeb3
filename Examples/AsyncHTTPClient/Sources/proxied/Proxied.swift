// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL

/// Fetches URLs through the proxy that the environment names, as `dnsctl exec` sets it: one way to go direct without a line that
/// knows of it.
///
/// `dnsctl exec -- proxied [--ca FILE] URL…`
@main
struct Proxied {
  static func main() async throws {
    var words = Array(CommandLine.arguments.dropFirst())
    var tls = TLSConfiguration.makeClientConfiguration()
    if words.first == "--ca", words.count > 1 {
      tls.additionalTrustRoots = [.file(words[1])]
      words.removeFirst(2)
    }
    guard let text = ProcessInfo.processInfo.environment["http_proxy"], let proxy = URL(string: text),
      let host = proxy.host, let port = proxy.port
    else {
      print("proxied: there is no http_proxy: run it by dnsctl exec -- proxied URL…")
      exit(64)
    }
    // AsyncHTTPClient looks at no variable by itself.
    let client = HTTPClient(
      eventLoopGroupProvider: .singleton,
      configuration: .init(tlsConfiguration: tls, proxy: .server(host: host, port: port)))
    var status: Int32 = 0
    for url in words {
      do {
        let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(30))
        print(response.status.code, url)
        print(String(buffer: try await response.body.collect(upTo: 1 << 20)), terminator: "")
      } catch {
        print("\(url): \(error)")
        status = 1
      }
    }
    try await client.shutdown()
    exit(status)
  }
}
