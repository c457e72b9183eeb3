// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import NIOCore

/// Which connections would come back to the proxy itself.
extension ListenAddress {
  /// Whether a connection to an address may reach this listener; `machine` has the addresses of this machine.
  func leads(from address: IPAddress, port: UInt16, machine: Set<IPAddress>) -> Bool {
    guard case .tcp(let place, let ownPort) = self, ownPort == port else { return false }
    let (own, address) = (place.unmapped, address.unmapped)
    // A socket at 0.0.0.0 takes connections by IPv4 alone, one at :: takes both.
    guard own.family == address.family || own.family == .ipv6 && own.isUnspecified else { return false }
    // 0.0.0.0 and :: listen at every address of this machine, and a connection to them goes to its loopback address.
    return own == address || address.isUnspecified && (own == .loopback(own.family) || own.isUnspecified)
      || own.isUnspecified && (address.isLoopback || machine.contains(address))
  }

  /// An address at which this machine reaches it; nil for a Unix socket.
  var place: String? {
    guard case .tcp(let own, let port) = self else { return nil }
    return own.isUnspecified ? "\(ListenAddress.tcp(.loopback(own.family), port: port))" : description
  }

  /// Whether a connection has reached this listener, if that listens at all addresses of this machine: a system connects
  /// to an address of its own from the same one.
  func isReached(from local: IPAddress, to remote: IPAddress, port: UInt16) -> Bool {
    guard case .tcp(let place, _) = self, place.unmapped.isUnspecified else { return false }
    return leads(from: remote, port: port, machine: local.unmapped == remote.unmapped ? [remote.unmapped] : [])
  }
}

/// The addresses of this machine.
enum MachineAddresses {
  /// Those that it has now.
  static var all: Set<IPAddress> {
    Set(((try? System.enumerateDevices()) ?? []).compactMap { $0.address?.ipAddressValue })
  }

  /// Whether a socket may be bound to an address; true if it is not known which ones there are.
  static func hold(_ address: IPAddress) -> Bool {
    let (all, address) = (all, address.unmapped)
    return all.isEmpty || address.isUnspecified || all.contains(address)
  }
}

extension IPAddress {
  fileprivate var isUnspecified: Bool { bytes.allSatisfy { $0 == 0 } }
}
