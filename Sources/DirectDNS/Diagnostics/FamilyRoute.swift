// SPDX-License-Identifier: Apache-2.0
extension IPAddress.Family {
  /// Whether this machine's network has a route for the family: without one no address of it can be connected to.
  ///
  /// Nothing is sent. It costs a few calls of the system each time, since a network comes and goes.
  public var hasRoute: Bool { Routes.exists(for: self) }
}
