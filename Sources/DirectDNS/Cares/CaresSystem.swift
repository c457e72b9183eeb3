// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCares

/// The system's configuration as c-ares reads it when a channel is made.
///
/// Two of them are alike while no file has changed. The hosts file is none of them: each lookup reads it.
struct CaresSystem: Hashable {
  /// Another file in place of /etc/resolv.conf.
  let resolvConf: String?
  private let stamps: [FileStamp?]

  /// Looks at the files.
  init(resolvConf: String? = nil) {
    self.resolvConf = resolvConf
    stamps = [resolvConf ?? "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/svc.conf"].map {
      FileStamp(of: $0)
    }
  }
}

/// Which families have a route: a UDP socket that cannot be connected has none.
///
/// Nothing is sent.
enum Routes {
  static func exists(for family: IPAddress.Family) -> Bool {
    directdns_has_route(family == .ipv4 ? AF_INET : AF_INET6) != 0
  }
}
