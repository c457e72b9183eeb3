/// A domain name as DNS messages carry it: labels of bytes, compared without regard to ASCII case.
///
/// A name may hold any bytes, a dot inside a label too, so it is not a ``HostName``; ``hostName`` gives that
/// where the name is one. Source: RFC 1035 §3.1, RFC 4343.
public struct DNSName: Hashable, Sendable, CustomStringConvertible {
  /// The uncompressed wire form in lower case: each label behind its length, then a zero.
  let wire: [UInt8]

  init(wire: [UInt8]) { self.wire = wire }

  /// The root.
  public static let root = DNSName(wire: [0])

  /// The name of a host.
  public init(_ host: HostName) {
    var wire: [UInt8] = []
    wire.reserveCapacity(host.text.utf8.count + 2)
    var lengthIndex = 0
    wire.append(0)
    for byte in host.text.utf8 {
      if byte == UInt8(ascii: ".") {
        wire[lengthIndex] = UInt8(truncatingIfNeeded: wire.count - lengthIndex - 1)
        lengthIndex = wire.count
        wire.append(0)
      } else {
        wire.append(byte)
      }
    }
    wire[lengthIndex] = UInt8(truncatingIfNeeded: wire.count - lengthIndex - 1)
    wire.append(0)
    self.wire = wire
  }

  /// The name that a presentation text spells, with or without its final dot; nothing if it spells none.
  ///
  /// `\.` and `\DDD` are read as RFC 1035 §5.1 has them.
  public init?(_ presentation: String) {
    var wire: [UInt8] = []
    var label: [UInt8] = []
    var bytes = presentation.utf8.makeIterator()
    func close() -> Bool {
      guard (1...63).contains(label.count) else { return false }
      wire.append(UInt8(label.count))
      wire += label
      label.removeAll(keepingCapacity: true)
      return true
    }
    while let byte = bytes.next() {
      switch byte {
      case UInt8(ascii: "."):
        if label.isEmpty, wire.isEmpty, presentation.utf8.count == 1 { break }
        guard close() else { return nil }
      case UInt8(ascii: "\\"):
        guard let first = bytes.next() else { return nil }
        guard ASCII.isDigit(first) else {
          label.append(ASCII.lowercased(first))
          continue
        }
        guard let second = bytes.next(), let third = bytes.next(), ASCII.isDigit(second), ASCII.isDigit(third)
        else { return nil }
        let value = Int(first - 48) * 100 + Int(second - 48) * 10 + Int(third - 48)
        guard let escaped = UInt8(exactly: value) else { return nil }
        label.append(ASCII.lowercased(escaped))
      default:
        label.append(ASCII.lowercased(byte))
      }
    }
    if !label.isEmpty { guard close() else { return nil } }
    wire.append(0)
    guard wire.count <= 255 else { return nil }
    self.wire = wire
  }

  /// The labels, without the root's empty one.
  public var labels: [[UInt8]] {
    var labels: [[UInt8]] = []
    var index = 0
    while index < wire.count, wire[index] != 0 {
      let next = index + 1 + Int(wire[index])
      labels.append(Array(wire[(index + 1)..<next]))
      index = next
    }
    return labels
  }

  /// The host name that this is, or nothing if a label holds what no host name has.
  public var hostName: HostName? {
    guard wire.count > 1, wire.count <= 255 else { return nil }
    var text: [UInt8] = []
    text.reserveCapacity(wire.count)
    var remaining = Int(wire[0])
    for byte in wire.dropFirst().dropLast() {
      if remaining == 0 {
        text.append(UInt8(ascii: "."))
        remaining = Int(byte)
      } else {
        guard ASCII.isLowerLetter(byte) || ASCII.isDigit(byte) || byte == ASCII.hyphen || byte == ASCII.underscore
        else { return nil }
        text.append(byte)
        remaining -= 1
      }
    }
    return try? HostName(String(decoding: text, as: UTF8.self))
  }

  /// The presentation form with its final dot.
  public var description: String {
    guard wire.count > 1 else { return "." }
    var text = ""
    for label in labels {
      for byte in label {
        switch byte {
        case UInt8(ascii: "."), UInt8(ascii: "\\"): text += "\\" + String(UnicodeScalar(byte))
        case 0x21...0x7e: text.unicodeScalars.append(UnicodeScalar(byte))
        default:
          let digits = String(byte)
          text += "\\" + String(repeating: "0", count: 3 - digits.utf8.count) + digits
        }
      }
      text += "."
    }
    return text
  }
}
