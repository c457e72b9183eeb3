// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// A `--resolve`: addresses for a host at a port, in place of a lookup.
struct ResolveFlag: Sendable, Hashable {
  let host: HostName
  let port: UInt16
  let addresses: [IPAddress]

  /// Reads `[+]HOST:PORT:ADDRESS[,ADDRESS]…`, IPv6 with or without brackets.
  ///
  /// A plus sign lets curl's entry expire, which within one command it does not.
  init(_ text: String) throws(SettingsError) {
    func fault(_ reason: String) -> SettingsError { SettingsError(.usage, "--resolve \(text.printable): \(reason)") }
    let entry = text.hasPrefix("+") ? text.dropFirst() : text[...]
    guard !entry.hasPrefix("-") else {
      throw fault("an entry cannot be taken away: a command begins without any. Leave it out.")
    }
    let parts = entry.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let port = UInt16(parts[1]), port > 0 else {
      throw fault("write HOST:PORT:ADDRESS, with commas between several addresses.")
    }
    guard parts[0] != "*" else {
      throw fault("* is not offered: it would lead every name there, those of redirects too. Name each host.")
    }
    do { host = try HostName(String(parts[0])) } catch { throw fault("the host is none: \(error.message).") }
    self.port = port
    var addresses: [IPAddress] = []
    for word in parts[2].split(separator: ",", omittingEmptySubsequences: false) {
      let isBracketed = word.hasPrefix("[") && word.hasSuffix("]")
      guard let address = IPAddress(String(isBracketed ? word.dropFirst().dropLast() : word)) else {
        throw fault("\"\(String(word).printable)\" is no address.")
      }
      addresses.append(address)
    }
    self.addresses = addresses
  }

  /// The pins that entries come to; of two for a host and port the last one counts, as for curl.
  ///
  /// A pin goes by the name alone, and an entry by the port too: where that makes a difference it is said.
  static func pins(_ texts: [String], for urls: [WebURL]) throws(SettingsError) -> [HostName: [IPAddress]] {
    var ports: [HostName: UInt16] = [:]
    var pins: [HostName: [IPAddress]] = [:]
    for text in texts {
      let entry = try ResolveFlag(text)
      if let port = ports[entry.host], port != entry.port, pins[entry.host] != entry.addresses {
        throw SettingsError(
          .usage, "--resolve: \(entry.host) has other addresses at port \(port). Fetch from one of the ports at a time."
        )
      }
      ports[entry.host] = entry.port
      pins[entry.host] = entry.addresses
    }
    for url in urls {
      guard case .name(let text) = url.host, let host = try? HostName(text), let port = ports[host],
        port != url.effectivePort, !texts.contains(where: { holds($0, host, url.effectivePort) })
      else { continue }
      throw SettingsError(
        .usage,
        "--resolve: the entry for \(host) is for port \(port), and \(Origin(url)) is at \(url.effectivePort). Give it that port."
      )
    }
    return pins
  }

  private static func holds(_ text: String, _ host: HostName, _ port: UInt16) -> Bool {
    guard let entry = try? ResolveFlag(text) else { return false }
    return entry.host == host && entry.port == port
  }
}
