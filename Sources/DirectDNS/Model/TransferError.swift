// SPDX-License-Identifier: Apache-2.0
/// Why a transfer brought no response.
enum TransferError: Error, Hashable, Sendable {
  case connect(String)
  /// This machine has no socket to connect with: that says nothing of the address.
  case noSocket(String)
  /// The proxy opens no tunnel: its status.
  case refusedByProxy(Int)
  case tls(String)
  case timedOut
  case bodyTooLarge
  /// More header fields and trailers than are read.
  case fieldsTooLarge
  case invalidRequest(String)
  case connectionLost(String)
  case cancelled
  case shutDown
}
