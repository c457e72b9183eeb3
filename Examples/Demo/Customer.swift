// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import DirectDNSFoundation
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A client made of the library and `URLSession`: it connects by address, and leaves cookies and redirects to the library.
final class Customer: NSObject, URLSessionTaskDelegate {
  private let resolver: DirectResolver
  private let rewriter: RequestRewriter

  init(_ resolver: DirectResolver, allowing network: String) throws {
    self.resolver = resolver
    rewriter = RequestRewriter(policy: AddressPolicy(allowedNetworks: [try IPNetwork(parsing: network)]))
  }

  /// Sends a request for a name straight to the name's address.
  func send(
    _ method: String, _ url: String, body: String? = nil, cookie: String? = nil
  ) async throws -> (request: DirectRequest, response: HTTPURLResponse) {
    guard let address = URL(string: url), let host = address.host() else { throw StoryError("\(url) is no URL") }
    var request = URLRequest(url: address)
    request.httpMethod = method
    request.httpBody = body.map { Data($0.utf8) }
    request.setValue(cookie, forHTTPHeaderField: "Cookie")
    let answer = try await resolver.resolve(host)
    switch rewriter.rewrite(request, using: answer.addresses) {
    case .direct(let moved, let direct): return (direct, try await send(moved))
    case .bypassed(_, let reason): throw StoryError("\(url) was not rewritten: \(reason)")
    case .refused(let error): throw error
    }
  }

  private func send(_ request: URLRequest) async throws -> HTTPURLResponse {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpCookieStorage = nil
    // The session's delegate, since a task's own is not asked about redirects on Linux.
    let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
    defer { session.finishTasksAndInvalidate() }
    guard let response = try await session.data(for: request).1 as? HTTPURLResponse else {
      throw StoryError("what answered \(request) does not speak HTTP")
    }
    return response
  }

  /// Follows no redirect.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }
}
