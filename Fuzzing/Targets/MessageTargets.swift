// SPDX-License-Identifier: Apache-2.0
import HTTPTypes

@testable import DirectDNS

extension FuzzTarget {
  /// DNS messages and what stands in them.
  static let messages = [
    FuzzTarget("message", message),
    FuzzTarget("message-reply", messageReply),
    FuzzTarget("name-cares", Cares.name),
    FuzzTarget("message-cares", Cares.message),
    FuzzTarget("record-data", recordData),
    FuzzTarget("record-text", recordText),
  ]

  /// A message that is read is written and read again as the same one; without its last byte it is none.
  private static func message(_ bytes: [UInt8]) throws(BrokenRule) {
    guard let message = try? DNSMessage(decoding: bytes) else { return }
    let records = message.answers + message.authorities + message.additionals
    // Data that is not as its type wants stays as it came: a pointer in it leads elsewhere in another message, and may make
    // a name there.
    let isCompressible: (DNSRecord) -> Bool = { record in
      guard case .opaque = record.data else { return false }
      return [.cname, .dname, .ns, .ptr, .mx, .srv, .soa, .svcb, .https].contains(record.type)
    }
    try require(
      (try? DNSMessage(decoding: message.encoded())) == message || records.contains(where: isCompressible),
      "a message changes when it is written")
    try require((try? DNSMessage(decoding: Array(bytes.dropLast()))) == nil, "a message is read without its last byte")
    for record in records {
      try require(DNSName(record.owner.description) == record.owner, "a name changes as text: \(record.owner)")
      guard let host = record.owner.hostName else { continue }
      try require(DNSName(host) == record.owner, "a name changes as a host: \(host)")
    }
    _ = message.edns?.explanation
  }

  /// A reply to a question of ours: the short way and the long way agree, and nobody gets what was not asked for.
  private static func messageReply(_ bytes: [UInt8]) throws(BrokenRule) {
    let provider = MessageProvider(name: "fuzz", url: Asked.url)
    let reply = HTTPReply(status: .ok, contentType: "application/dns-message", body: bytes)
    for question in Asked.questions {
      let answer = try? provider.answer(from: reply, to: question)
      if let short = AddressReply.answer(from: bytes, to: question, freshness: reply.freshness) {
        let long = try? DNSMessage.answer(from: bytes, to: question.message, id: 0, freshness: reply.freshness)
        try require(
          short == long, "\(question): the short way reads \(short), the long way \(String(describing: long))")
      }
      try Asked.check(answer, of: question)
      try Asked.check(answer, against: try? provider.records(from: reply, to: question.message))
    }
    for type in [DNSRecordType.mx, .txt, .srv, .soa, .caa, .https, .ptr, .any] {
      let question = DNSQuestion(name: DNSName(Asked.host), type: type)
      guard let answer = try? provider.records(from: reply, to: question) else { continue }
      for record in answer.records { try check(record.data, record.type) }
    }
  }

  /// The data of a type, which the first two bytes name, and its text.
  private static func recordData(_ bytes: [UInt8]) throws(BrokenRule) {
    guard bytes.count >= 2 else { return }
    let type = DNSRecordType(rawValue: UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
    try check(RecordData(Array(bytes.dropFirst(2)), type: type), type)
  }

  /// The text of a type's data, behind a line that names the type.
  private static func recordText(_ bytes: [UInt8]) throws(BrokenRule) {
    let (first, rest) = bytes.firstLineAndRest
    guard let type = DNSRecordType(first.asText) else { return }
    try require(DNSRecordType(type.description) == type, "a type changes as text: \(type)")
    guard let data = RecordData(rest.asText, type: type) else { return }
    try check(data, type)
  }

  private static func check(_ data: RecordData, _ type: DNSRecordType) throws(BrokenRule) {
    let text = data.description
    try require(text.printable == text, "a record's text cannot be shown: \(text.debugDescription)")
    // What is not known stands there as it came, made printable.
    if case .presentation = data { return }
    try require(RecordData(text, type: type) == data, "\(type) changes as text: \(text)")
  }
}

/// What the replies of the seeds answer.
enum Asked {
  static let host = HostName(canonical: "www.example.com")
  static let questions = IPAddress.Family.allCases.map { AddressQuestion(host, $0) }
  static let url = WebURL(constant: "https://192.0.2.53/dns-query")

  /// Addresses of the family that was asked for, some of them, for a while.
  static func check(_ answer: Answer?, of question: AddressQuestion) throws(BrokenRule) {
    guard let answer else { return }
    if case .addresses(let addresses) = answer.content {
      try require(!addresses.isEmpty && addresses.count <= Answer.addressLimit, "\(addresses.count) addresses")
      try require(addresses.allSatisfy { $0.family == question.family }, "an address of the other family")
      try require(Set(addresses).count == addresses.count, "an address twice")
    }
    try require((answer.ttl ?? 0) <= DNSRecord.lifetimeLimit, "a lifetime of \(answer.ttl ?? 0) s")
  }

  /// The answer for addresses, and the one for records that says the same in another way.
  static func check(_ answer: Answer?, against records: RecordAnswer?) throws(BrokenRule) {
    try require((answer == nil) == (records == nil), "one of two readers has an answer, and the other has none")
    guard let answer, let records else { return }
    var found: [IPAddress] = []
    for record in records.records {
      if case .address(let address) = record.data, !found.contains(address) { found.append(address) }
    }
    switch answer.content {
    case .addresses(let addresses):
      try require(addresses == Array(found.prefix(Answer.addressLimit)), "addresses \(addresses), records \(found)")
    case .negative(let negative):
      try require(found.isEmpty, "no address, and records \(found)")
      try require(records.isNameMissing == (negative == .nameNotFound), "the name is missing in one of two")
    }
  }
}

extension WebURL {
  /// A URL of ours.
  init(constant text: String) {
    guard let url = try? WebURL(text) else { preconditionFailure("\(text) is no URL") }
    self = url
  }
}
