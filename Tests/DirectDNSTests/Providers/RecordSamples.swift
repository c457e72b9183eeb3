// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// The bytes that a text spells: hexadecimal digits, spaces between them, and words in quotes for themselves.
func wire(_ text: String) -> [UInt8] {
  var bytes: [UInt8] = []
  for (index, part) in text.split(separator: "'", omittingEmptySubsequences: false).enumerated() {
    guard index.isMultiple(of: 2) else {
      bytes += Array(part.utf8)
      continue
    }
    let digits = part.filter { $0 != " " }
    precondition(digits.count.isMultiple(of: 2), "\(text) has half a byte")
    var rest = digits[...]
    while !rest.isEmpty {
      guard let byte = UInt8(rest.prefix(2), radix: 16) else { preconditionFailure("\(text) is no hexadecimal") }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
  }
  return bytes
}

/// One record's data as it goes over the wire, and as it is read by people.
struct RecordSample: Sendable, CustomStringConvertible {
  var type: DNSRecordType
  var data: [UInt8]
  var text: String

  var description: String { "\(type) \(text)" }

  init(_ type: DNSRecordType, _ data: String, _ text: String) {
    self.type = type
    self.data = wire(data)
    self.text = text
  }

  /// Of each type, well-formed.
  static let good = [
    RecordSample(.a, "c0000201", "192.0.2.1"),
    RecordSample(.aaaa, "20010db8 00000000 00000000 00000001", "2001:db8::1"),
    RecordSample(.cname, "03'web'07'example'00", "web.example."),
    RecordSample(.ns, "00", "."),
    RecordSample(.ptr, "04'a.b\\'02'c;'00", #"a\.b\\.c\;."#),
    RecordSample(.dname, "01 00 01 ff 00", #"\000.\255."#),
    RecordSample(.mx, "000a 04'mail'07'EXAMPLE'00", "10 mail.example."),
    // A null MX (RFC 7505).
    RecordSample(.mx, "0000 00", "0 ."),
    RecordSample(.txt, "0b'v=spf1 -all'", #""v=spf1 -all""#),
    RecordSample(.txt, "01'a' 00 03'\"\\;'", #""a" "" "\"\\;""#),
    RecordSample(.txt, "03 00 7f e9", #""\000\127\233""#),
    RecordSample(.srv, "0001 0002 01bb 03'sip'00", "1 2 443 sip."),
    RecordSample(
      .soa, "02'ns'00 04'host'00 ffffffff 00000e10 00000258 00015180 0000003c",
      "ns. host. 4294967295 3600 600 86400 60"),
    RecordSample(.caa, "00 05'issue''letsencrypt.org'", #"0 issue "letsencrypt.org""#),
    RecordSample(.caa, "80 05'iodef'", #"128 iodef """#),
    RecordSample(.https, "0000 03'web'00", "0 web."),
    RecordSample(
      .https, "0001 00 0001 0006 02'h3'02'h2' 0003 0002 20fb 0004 0008 c0000201c0000202",
      #"1 . alpn="h3,h2" port=8443 ipv4hint=192.0.2.1,192.0.2.2"#),
    RecordSample(.init(rawValue: 65280), "0a000001", ##"\# 4 0A000001"##),
    RecordSample(.init(rawValue: 65280), "", ##"\# 0"##),
  ]

  /// Of each type, malformed: read as bytes.
  static let bad =
    [
      (DNSRecordType.a, "c00002"), (.a, "c000020100"), (.a, ""), (.aaaa, "c0000201"), (.cname, ""), (.cname, "03'we'"),
      (.cname, "03'web'00 00"), (.cname, "c000"), (.ns, "80"), (.ptr, "40'x'00"), (.mx, "000a"), (.mx, "00"),
      (.mx, "000a 04'mail'00 00"), (.txt, ""), (.txt, "05'ab'"), (.txt, "ff"), (.srv, "0001 0002 01bb"),
      (.srv, "0001 0002"), (.soa, "00 00 00000001"), (.soa, "00"), (.caa, ""), (.caa, "00"), (.caa, "00 00"),
      (.caa, "00 09'iss'"), (.caa, "00 01 20"), (.https, "00"), (.https, "0001"), (.https, "0001 00 0003"),
      // A port of one byte; keys twice and out of order; a value that runs past the end.
      (.https, "0001 00 0003 0001 50"), (.https, "0001 00 0003 0002 0050 0003 0002 0050"),
      (.https, "0001 00 0003 0002 0050 0001 0003 02'h2'"), (.https, "0001 00 0001 00ff 02'h2'"),
      (.svcb, "0001 00 0001 0000"), (.svcb, "0001 00 0001 0003 03'h2'"), (.svcb, "0001 00 0004 0003 c00002"),
      (.svcb, "0001 00 0002 0001 00"), (.svcb, "0001 00 0006 0004 c0000201"), (.svcb, "0001 00 0000 0000"),
      (.svcb, "0001 00 0000 0004 0003 0001"), (.svcb, "0001 00 0000 0002 0000"), (.svcb, "0001 00 0005 0000"),
    ].map { RecordSample($0.0, $0.1, PresentationText.generic(wire($0.1))) }
}
