// SPDX-License-Identifier: Apache-2.0
import AsyncHTTPClient
import Load
import NIOCore
import NIOPosix
import NIOSSL

struct AsyncHTTPClientRequester: Requester {
  private let client: HTTPClient

  init(_ setting: RequestSetting) {
    var configuration = HTTPClient.Configuration()
    configuration.dnsOverride = [setting.host: setting.address]
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = setting.connections
    if setting.isHTTP1 { configuration.httpVersion = .http1Only }
    if let authority = setting.authority {
      var tls = TLSConfiguration.makeClientConfiguration()
      tls.trustRoots = .file(authority)
      configuration.tlsConfiguration = tls
    }
    // One thread for the sockets, as the others have, not one for each core.
    client = HTTPClient(
      eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup(numberOfThreads: 1)), configuration: configuration)
  }

  func bodyLength(_ url: String) async throws -> Int {
    var length = 0
    for try await part in try await response(url).body { length += part.readableBytes }
    return length
  }

  func body(_ url: String) async throws -> [UInt8] {
    Array(try await response(url).body.collect(upTo: 4096).readableBytesView)
  }

  private func response(_ url: String) async throws -> HTTPClientResponse {
    try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(120))
  }
}
