// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCares

/// Which families have a route: a UDP socket that cannot be connected has none.
///
/// Nothing is sent.
enum Routes {
  static func exists(for family: IPAddress.Family) -> Bool {
    directdns_has_route(family == .ipv4 ? AF_INET : AF_INET6) != 0
  }
}
