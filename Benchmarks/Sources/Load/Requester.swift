// SPDX-License-Identifier: Apache-2.0
/// A client under measurement; all of them are asked for the same.
package protocol Requester: Sendable {
  /// Fetches a URL, and counts the bytes of its body as they come.
  func bodyLength(_ url: String) async throws -> Int

  /// Where its tasks run best, if it says so.
  var executor: (any TaskExecutor)? { get }

  /// Fetches a URL with a short body.
  func body(_ url: String) async throws -> [UInt8]
}

extension Requester {
  package var executor: (any TaskExecutor)? { nil }
}

/// What every client is told.
package struct RequestSetting {
  /// The host of the URLs, and what it resolves to.
  package let host: String
  package let address: String
  /// The file of the one authority that is trusted.
  package let authority: String?
  package let isHTTP1: Bool
  package let connections: Int
}
