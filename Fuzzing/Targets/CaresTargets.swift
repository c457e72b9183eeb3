// SPDX-License-Identifier: Apache-2.0
import CDirectDNSCares
import HTTPTypes

@testable import DirectDNS

/// c-ares as a second opinion on DNS messages.
enum Cares {
  /// A name that stands in a message, at the place that the first byte says.
  static func name(_ bytes: [UInt8]) throws(BrokenRule) {
    guard let place = bytes.first else { return }
    let message = Array(bytes.dropFirst())
    guard Int(place) < message.count else { return }
    var reader = DNSMessageReader(bytes: message)
    reader.offset = Int(place)
    guard let name = try? reader.name() else { return }
    let other = unsafe message.withUnsafeBufferPointer { buffer -> (text: String, length: Int)? in
      guard let start = buffer.baseAddress else { return nil }
      var text: UnsafeMutablePointer<CChar>?
      var length = 0
      let status = unsafe ares_expand_name(start + Int(place), start, Int32(buffer.count), &text, &length)
      guard status == directdns_ares_success, let text = unsafe text else { return nil }
      defer { unsafe ares_free_string(text) }
      return unsafe (String(cString: text), length)
    }
    guard let other else { throw BrokenRule(description: "c-ares refuses the name \(name)") }
    // It leaves a space as it is, which we write as \032.
    let theirs = other.text.isEmpty ? .root : DNSName(other.text)
    try require(theirs == beforeNUL(name), "c-ares reads \(other.text), we \(name)")
    try require(other.length == reader.offset - Int(place), "c-ares finds the end elsewhere: \(name)")
  }

  /// What c-ares' text has of a name: a label of one NUL it leaves as it is, and there a C string ends.
  private static func beforeNUL(_ name: DNSName) -> DNSName {
    var at = 0
    while name.wire[at] != 0 {
      if name.wire[at...].starts(with: [1, 0]) { return DNSName(wire: name.wire[..<at] + [0]) }
      at += 1 + Int(name.wire[at])
    }
    return name
  }

  /// A reply that has addresses: c-ares reads the same ones, and whatever else the reply has.
  static func message(_ bytes: [UInt8]) throws(BrokenRule) {
    let provider = MessageProvider(name: "fuzz", url: Asked.url)
    let reply = HTTPReply(status: .ok, contentType: "application/dns-message", body: bytes)
    guard isInOrder(bytes) else { return }
    for question in Asked.questions {
      guard let answer = try? provider.answer(from: reply, to: question), case .addresses(let ours) = answer.content,
        let theirs = addresses(bytes, question.family)
      else { continue }
      try require(Set(ours).isSubset(of: theirs), "\(question): we read \(ours), c-ares \(theirs)")
    }
  }

  /// Whether each alias and each address of a reply belongs to the name that those before it lead to.
  ///
  /// c-ares goes by their order: it takes any alias for that name's, and no address of another.
  private static func isInOrder(_ bytes: [UInt8]) -> Bool {
    guard let message = try? DNSMessage(decoding: bytes), var name = message.questions.first?.name else { return false }
    for record in message.answers where record.recordClass == DNSQuestion.internetClass {
      guard [.cname, .a, .aaaa].contains(record.type) else { continue }
      guard record.owner == name else { return false }
      guard record.type == .cname else { continue }
      // It takes the name at the beginning of what is no alias for us, too.
      guard case .name(let target) = record.data else { return false }
      name = target
    }
    return true
  }

  /// The addresses that c-ares finds; nil for a reply that it refuses, such as one with an alias for what is no host.
  private static func addresses(_ bytes: [UInt8], _ family: IPAddress.Family) -> Set<IPAddress>? {
    let most = 256
    var count = Int32(most)
    let length = Int32(bytes.count)
    switch family {
    case .ipv4:
      var found = [ares_addrttl](repeating: ares_addrttl(), count: most)
      let status = unsafe directdns_ares_parse_a(bytes, length, &found, &count)
      guard status == directdns_ares_success, count < most else { return nil }
      return Set(found.prefix(Int(count)).map { .ipv4(UInt32(bigEndian: $0.ipaddr.s_addr)) })
    case .ipv6:
      var found = [ares_addr6ttl](repeating: ares_addr6ttl(), count: most)
      let status = unsafe directdns_ares_parse_aaaa(bytes, length, &found, &count)
      guard status == directdns_ares_success, count < most else { return nil }
      return Set(
        found.prefix(Int(count)).compactMap { entry in
          unsafe withUnsafeBytes(of: entry.ip6addr) { unsafe IPAddress(bytes: $0) }
        })
    }
  }
}
