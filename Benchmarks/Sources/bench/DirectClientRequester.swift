// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Load

struct DirectClientRequester: Requester {
  private let client: DirectClient

  init(_ setting: RequestSetting) throws {
    var resolving = ResolverConfiguration()
    resolving.usesSystemDNS = false
    if let host = try? HostName(setting.host), let address = IPAddress(setting.address) {
      resolving.localZones.pins = [host: [address]]
    }
    var configuration = DirectClientConfiguration()
    configuration.policy = .any
    configuration.proxy = .none
    if let authority = setting.authority { configuration.trust = TrustStore(privateAuthorities: [authority]) }
    if setting.isHTTP1 { configuration.httpVersion = .http1 }
    configuration.connections = setting.connections + 64
    configuration.connectionsPerOrigin = setting.connections
    // What waits for the silent server is to wait for as long as the row takes.
    configuration.timeouts.firstByte = .seconds(120)
    client = try DirectClient(configuration, resolver: try DirectResolver(resolving))
  }

  var executor: (any TaskExecutor)? { client.executor }

  func bodyLength(_ url: String) async throws -> Int {
    var length = 0
    for try await part in try await response(url).body { length += part.count }
    return length
  }

  func body(_ url: String) async throws -> [UInt8] { try await response(url).body.collect(upTo: 4096) }

  private func response(_ url: String) async throws -> DirectResponse { try await client.get(url) }
}
