// SPDX-License-Identifier: Apache-2.0
/// The zone `lab.test`, as every server of the fixture serves it.
struct LabZone: Sendable {
  struct Record: Sendable {
    /// Below `lab.test`.
    var name: String
    var type: String
    var data: String
    var ttl = 300
  }

  /// Everything in the zone besides its head.
  var records: [Record]

  /// How long a server says that a missing name or record is missing, in seconds.
  static let negativeTTL = 60

  static let standard = LabZone(
    records: ["www", "api", "cdn", "static", "login", "doh"].map {
      Record(name: $0, type: "A", data: "127.0.0.1")
    } + [
      Record(name: "many", type: "A", data: "127.0.0.1"),
      Record(name: "many", type: "A", data: "127.0.0.2"),
      Record(name: "many", type: "A", data: "127.0.0.3"),
      Record(name: "dual", type: "A", data: "127.0.0.1"),
      Record(name: "dual", type: "AAAA", data: "::1"),
      Record(name: "six-only", type: "AAAA", data: "::1"),
      Record(name: "alias", type: "CNAME", data: "www"),
      Record(name: "chain", type: "CNAME", data: "alias"),
      Record(name: "brief", type: "A", data: "127.0.0.1", ttl: 1),
      Record(name: "xn--mnchen-3ya", type: "A", data: "127.0.0.1"),
    ] + (0..<300).map { Record(name: host($0), type: "A", data: address(ofHost: $0)) })

  /// Records of other types, which DNS servers have and the JSON interface has not.
  static let otherTypes = [
    Record(name: "mail", type: "MX", data: "10 www"), Record(name: "mail", type: "MX", data: "20 mx.other.test."),
    Record(name: "mail", type: "TXT", data: #""v=spf1 -all" "a \"b\" c\\d;e" "\001\200""#),

    Record(name: "_sip._tcp", type: "SRV", data: "1 2 5060 www"), Record(name: "1.rev", type: "PTR", data: "www"),
    Record(name: "ca", type: "CAA", data: #"0 issue "letsencrypt.org""#),
    Record(name: "ca", type: "CAA", data: #"128 iodef "mailto:a@lab.test""#),
    Record(name: "web", type: "HTTPS", data: "1 . alpn=h2,h3 port=8443 ipv4hint=127.0.0.1 ipv6hint=::1 ech=AAEC"),
    Record(name: "web", type: "HTTPS", data: "0 www"),
    Record(name: "_scheme.web", type: "SVCB", data: "1 www mandatory=alpn,port alpn=h2 port=853 key667=\"a\\001b\""),
    Record(name: "odd\\.name\\;", type: "CNAME", data: "a\\.b\\032c"),
    Record(name: "new", type: "TYPE65280", data: ##"\# 4 0A000001"##),
    Record(name: "new", type: "TYPE65281", data: ##"\# 0"##),
    Record(name: "to-mail", type: "CNAME", data: "mail"),
  ]

  /// The name of the numbered host, below `lab.test`: `host-000042`.
  static func host(_ number: Int) -> String {
    let digits = String(number)
    return "host-" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits
  }

  /// The one address of the numbered host, on loopback and its own.
  static func address(ofHost number: Int) -> String {
    "127.\(1 + number >> 16 & 0xff).\(number >> 8 & 0xff).\(number & 0xff)"
  }

  /// As a master file, which BIND and unbound read.
  var masterFile: String {
    let head = """
      $ORIGIN lab.test.
      @ 300 IN SOA ns hostmaster 1 3600 600 86400 \(Self.negativeTTL)
      @ 300 IN NS ns
      ns 300 IN A 127.0.0.1

      """
    return (records + Self.otherTypes).reduce(into: head) { text, record in
      text += "\(record.name) \(record.ttl) IN \(record.type) \(record.data)\n"
    }
  }

  /// As a JavaScript object from lower-case names to records, which nginx loads.
  var scriptTable: String {
    let names = Dictionary(grouping: records, by: \.name).sorted { $0.key < $1.key }
    let lines = names.map { name, records in
      let list = records.map { record in
        let data = record.type == "CNAME" ? "\(record.data).lab.test." : record.data
        return "{ type: '\(record.type)', ttl: \(record.ttl), data: '\(data)' }"
      }
      return "  '\(name).lab.test.': [\(list.joined(separator: ", "))],\n"
    }
    return "{\n\(lines.joined())}"
  }
}
