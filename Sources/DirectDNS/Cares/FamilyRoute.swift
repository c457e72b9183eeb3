// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCares

extension IPAddress.Family {
  /// Whether this machine's network has a route for the family: without one no address of it can be connected to.
  ///
  /// Nothing is sent: a UDP socket that cannot be connected has none. It costs a few calls of the system each time,
  /// since a network comes and goes.
  public var hasRoute: Bool { directdns_has_route(self == .ipv4 ? AF_INET : AF_INET6) != 0 }
}
