// SPDX-License-Identifier: Apache-2.0
/// What became of the cookies that were filed under an address.
public struct CookieRepair: Hashable, Sendable {
  /// The cookies that are the host's now.
  public internal(set) var moved: [Cookie] = []
  /// The cookies that went because the other of the two was newer: a moved one, or the host's own.
  public internal(set) var superseded: [Cookie] = []
  /// The cookies that stay under the address and are never sent, since it stood for more than one host.
  public internal(set) var held: [Cookie] = []

  /// Creates an empty report.
  public init() {}
}
