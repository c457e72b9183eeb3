// SPDX-License-Identifier: Apache-2.0
import DirectDNS

extension DNSRecord {
  /// The record's data in presentation form, as in JSON's `data`.
  var presentation: String {
    switch data {
    case .address(let address): address.description
    case .binding(let binding): binding.presentation
    // RFC 3597 §5: the form of data whose type is unknown.
    case .opaque(let bytes): "\\# \(bytes.count) \(Hex.encoded(bytes))"
    default: data.description
    }
  }
}

extension ServiceBinding {
  /// The binding in presentation form (RFC 9460 §2.1): `1 . alpn="h3,h2" ipv4hint=192.0.2.1`.
  fileprivate var presentation: String {
    var parts = ["\(priority)", target.description]
    for (key, value) in parameters.sorted(by: { $0.key < $1.key }) {
      switch key {
      case 1: parts.append("alpn=\"\(alpn.joined(separator: ","))\"")
      case 2: parts.append("no-default-alpn")
      case 3: parts.append("port=\(port ?? 0)")
      case 4, 6:
        let family: IPAddress.Family = key == 4 ? .ipv4 : .ipv6
        let addresses = hints.filter { $0.family == family }.map(\.description).joined(separator: ",")
        parts.append("ipv\(key)hint=\(addresses)")
      case 5: parts.append("ech=\"\(Base64.encoded(value))\"")
      default: parts.append("key\(key)=\"\(String(decoding: value, as: UTF8.self))\"")
      }
    }
    return parts.joined(separator: " ")
  }
}
