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
    return records.reduce(into: head) { text, record in
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
