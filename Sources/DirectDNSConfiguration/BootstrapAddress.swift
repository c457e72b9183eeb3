// SPDX-License-Identifier: Apache-2.0
package import DirectDNS

/// `NAME=IP`: an address of a provider's host.
package struct BootstrapAddress: Sendable, Hashable {
  package let name: HostName
  package let address: IPAddress

  package init(_ text: String) throws(ConfigurationFault) {
    guard let equals = text.firstIndex(of: "=") else {
      throw ConfigurationFault(
        "\"\(text.printable)\" has no \"=\". Write NAME=IP, such as dns.google=8.8.8.8.")
    }
    let host = String(text[..<equals])
    let value = String(text[text.index(after: equals)...])
    do {
      name = try HostName(host)
    } catch {
      throw ConfigurationFault("\"\(host.printable)\", before the \"=\", is not a host name: \(error.clause).")
    }
    guard let address = IPAddress.written(value) else {
      throw ConfigurationFault(
        "\"\(value.printable)\", behind the \"=\", is not an IP address. Write \(name)=192.0.2.1, for example.")
    }
    self.address = address
  }
}
