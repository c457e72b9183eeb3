// SPDX-License-Identifier: Apache-2.0
/// How far a transfer is.
public struct TransferProgress: Sendable, Hashable {
  /// Bytes of the request's body that were sent.
  public internal(set) var sent: Int64 = 0
  /// Bytes of the response's body that were received, after decoding.
  public internal(set) var received: Int64 = 0
  /// Bytes that the response's body has on the wire; nil when the server does not say.
  public internal(set) var expected: Int64?
}
