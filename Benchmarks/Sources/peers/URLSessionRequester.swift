// SPDX-License-Identifier: Apache-2.0
import Foundation
import Load

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// It can neither be told an address nor, on Linux, an authority to trust: plain HTTP to an address is left.
struct URLSessionRequester: Requester {
  private let session: URLSession

  init(_ setting: RequestSetting) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = setting.connections
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    session = URLSession(configuration: configuration)
  }

  func bodyLength(_ url: String) async throws -> Int { try await data(url).count }

  func body(_ url: String) async throws -> [UInt8] { [UInt8](try await data(url)) }

  private func data(_ url: String) async throws -> Data {
    guard let url = URL(string: url) else { throw URLError(.badURL) }
    return try await session.data(from: url).0
  }
}
