// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSFoundation
import DirectDNSTesting
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A session that goes direct, to names that are pinned to this machine, or that a provider is asked for.
struct DirectSession {
  let session: URLSession
  let client: DirectClient
  let storage: HTTPCookieStorage

  init(
    names: [String] = ["shop.test"], asking provider: FakeProvider? = nil, authority: String? = nil,
    delegate: (any URLSessionDelegate)? = nil, streamsToDelegate: Bool = false,
    client change: (inout DirectClientConfiguration) -> Void = { _ in },
    configuration configure: (URLSessionConfiguration) -> Void = { _ in }
  ) throws {
    client = try Self.client(names: names, asking: provider, authority: authority, change)
    let configuration = URLSessionConfiguration.ephemeral
    configure(configuration)
    configuration.goDirect(through: client, streamsToDelegate: streamsToDelegate)
    storage = try #require(configuration.httpCookieStorage)
    session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
  }

  static func client(
    names: [String], asking provider: FakeProvider? = nil, authority: String?,
    _ change: (inout DirectClientConfiguration) -> Void = { _ in }
  ) throws -> DirectClient {
    var resolving = ResolverConfiguration()
    if let provider {
      resolving.providers = [try ProviderConfiguration("json+\(provider.url("/resolve"))")]
      resolving.usesSystemDNS = false
      resolving.timeout = .seconds(3600)
    }
    for name in names { resolving.localZones.pins[try HostName(name)] = [.ipv4(0x7F00_0001)] }
    var configuration = DirectClientConfiguration()
    configuration.policy = .any
    if let authority { configuration.trust = TrustStore(privateAuthorities: [authority], environment: [:]) }
    change(&configuration)
    return try DirectClient(configuration, resolver: DirectResolver(resolving))
  }

  func text(_ request: URLRequest) async throws -> (text: String, response: DirectURLResponse) {
    let (data, response) = try await session.data(for: request)
    return (String(decoding: data, as: UTF8.self), try #require(response as? DirectURLResponse))
  }

  func text(_ url: String) async throws -> (text: String, response: DirectURLResponse) {
    try await text(try Self.request(url))
  }

  /// The error that a request ends with.
  func error(_ request: URLRequest) async throws -> URLError {
    do {
      _ = try await session.data(for: request)
    } catch {
      return try #require(error as? URLError)
    }
    throw NoError()
  }

  struct NoError: Error {}

  static func request(_ url: String, _ change: (inout URLRequest) -> Void = { _ in }) throws -> URLRequest {
    var request = URLRequest(url: try #require(URL(string: url)))
    change(&request)
    return request
  }

  func end() async {
    session.invalidateAndCancel()
    await client.shutdown(within: .zero)
  }
}
