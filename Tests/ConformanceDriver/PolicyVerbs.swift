// SPDX-License-Identifier: Apache-2.0
import DirectDNS

/// The verbs of the address policy; what cannot be read is never sent to.
let policyVerbs: [String: Verb] = [
  "ip.policy": { input in
    try verdict {
      var policy = AddressPolicy.publicOnly
      if let prefix = input["pref64"] as? String {
        policy.nat64Prefixes = [try NAT64Prefix(IPNetwork(parsing: prefix))]
      }
      guard let address = IPAddress(try text(input, "ip")) else { return ["allow": false] }
      return ["allow": policy.objection(to: address) == nil]
    }
  },
  "url.policy": { input in
    try verdict {
      let host = try WebURL(text(input, "url")).host
      guard let lookups = try lookups(of: host, scripted: input["resolves_to"] as? [Any]) else {
        return ["allow": true, "host": host.description]
      }
      let allowed = try lookups.allSatisfy { try !AddressPolicy.publicOnly.allowed($0, for: host).isEmpty }
      return ["allow": allowed, "host": host.description]
    }
  },
]

private func verdict(_ judge: () throws -> JSONObject) throws -> JSONObject {
  do { return try judge() } catch let error as DirectDNSError where Refusal.isOne(error) {
    return ["allow": false, "error": error.message]
  }
}

/// What each lookup of a host gives, in the order of time; nil when the case does not say.
private func lookups(of host: WebURL.Host, scripted: [Any]?) throws -> [[IPAddress]]? {
  if case .address(let address) = host { return [[address]] }
  if LocalZones().route(for: try HostName(host)) == .loopback {
    return [[.ipv4(0x7F00_0001), .ipv6(high: 0, low: 1)]]
  }
  return scripted.map { records in
    records.split { $0 as? String == "then" }.map { lookup in
      lookup.compactMap { record in
        guard let fields = record as? [Any], fields.count > 1, let type = fields[0] as? String,
          ["A", "AAAA"].contains(type), let address = fields[1] as? String
        else { return nil }
        return IPAddress(address)
      }
    }
  }
}
