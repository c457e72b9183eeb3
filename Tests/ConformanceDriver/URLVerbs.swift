// SPDX-License-Identifier: Apache-2.0
import DirectDNS

/// The verbs of the URL, host and address parsers.
let urlVerbs: [String: Verb] = [
  "url.parse": { input in
    // A base of another scheme (about:blank) helps no reference, and an absolute URL needs none.
    let base = input["base"] as? String
    let url =
      if let base, !hasForeignScheme(base) {
        try WebURL(text(input, "url"), base: WebURL(base))
      } else {
        try WebURL(text(input, "url"))
      }
    return [
      "ok": true, "href": url.href, "scheme": url.scheme.rawValue, "username": url.username,
      "password": url.password, "host": url.host.description, "port": url.port.map { "\($0)" } ?? "",
      "path": url.path, "query": url.query ?? "", "fragment": url.fragment ?? "",
    ]
  },
  "url.resolve": { input in
    let reference = try text(input, "ref")
    let base = try WebURL(text(input, "base"))
    // Another scheme than the library's four: the reference stands for itself.
    if hasForeignScheme(reference) { return ["href": reference] }
    return ["href": try WebURL(reference, base: base).href]
  },
  "host.ascii": { input in ["ok": true, "ascii": try WebURL.Host(text(input, "host")).description] },
  "authority.parse": { input in
    let text = try text(input, "authority")
    let target = try WebURL.HostAndPort(text.utf8.span)
    // The suite's are targets of CONNECT, which have a port (RFC 9110 §9.3.6); the library's hosts may do without.
    guard let port = target.port, port > 0 else { return ["ok": false] }
    return ["ok": true, "host": target.host.description, "port": Int(port)]
  },
  "ip.parse": { input in
    guard let address = IPAddress(try text(input, "text")) else { return ["ok": false] }
    return ["ok": true, "canonical": address.description]
  },
]

private func hasForeignScheme(_ text: String) -> Bool {
  WebURL.schemeName(of: text).map { WebURL.Scheme(rawValue: $0) == nil } ?? false
}
