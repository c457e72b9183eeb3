// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// A `--resolve`: addresses for a host at a port, in place of a lookup.
struct ResolveFlag: Sendable, Hashable {
  let host: HostName
  let port: UInt16
  let addresses: [IPAddress]

  /// Reads `[+]HOST:PORT:ADDRESS[,ADDRESS]…`, IPv6 with or without brackets.
  ///
  /// A plus sign makes curl's entry expire, which does not happen within one command.
  init(_ text: String) throws(CommandError) {
    func fault(_ reason: String) -> CommandError { CommandError(.usage, "--resolve \(text.printable): \(reason)") }
    let entry = text.hasPrefix("+") ? text.dropFirst() : text[...]
    guard !entry.hasPrefix("-") else {
      throw fault("an entry cannot be removed: a command begins without any. Leave it out.")
    }
    let parts = entry.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let port = UInt16(parts[1]), port > 0 else {
      throw fault("write HOST:PORT:ADDRESS, with commas between several addresses.")
    }
    guard parts[0] != "*" else {
      throw fault("* is not offered: it would send every name there, those of redirects too. Name each host.")
    }
    do { host = try HostName(String(parts[0])) } catch {
      throw fault("the host is invalid: \(error.clause).")
    }
    self.port = port
    var addresses: [IPAddress] = []
    for word in parts[2].split(separator: ",", omittingEmptySubsequences: false) {
      guard let address = IPAddress.written(String(word)) else {
        throw fault("\"\(String(word).printable)\" is not an address.")
      }
      addresses.append(address)
    }
    self.addresses = addresses
  }

  /// The pins for entries; the last one counts for a host and port, and other ports are looked up, as in curl.
  static func pins(_ texts: [String]) throws(CommandError) -> [HostPort: [IPAddress]] {
    var pins: [HostPort: [IPAddress]] = [:]
    for text in texts {
      let entry = try ResolveFlag(text)
      pins[HostPort(host: entry.host, port: entry.port)] = entry.addresses
    }
    return pins
  }
}
