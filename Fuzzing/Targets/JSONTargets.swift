// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPTypes

@testable import DirectDNS
@testable import DirectDNSConfiguration
@testable import DnsctlCommands

extension FuzzTarget {
  /// JSON, and the formats of providers that are not DNS messages.
  static let jsonTexts = [
    FuzzTarget("json", json),
    FuzzTarget("json-reply", jsonReply),
    FuzzTarget("dnspod-reply", dnspodReply),
    FuzzTarget("emas-reply", emasReply),
    FuzzTarget("reply-fields", replyFields),
    FuzzTarget("configuration", configuration),
  ]

  /// What is JSON to us is JSON to Foundation, and says the same.
  private static func json(_ bytes: [UInt8]) throws(BrokenRule) {
    guard JSONValue(bytes) != nil, let text = String(validating: bytes, as: UTF8.self) else { return }
    // Foundation refuses a surrogate without its other half, which we repair, and numbers beyond a Double's.
    let hasExponent = zip(bytes, bytes.dropFirst()).contains { ASCII.isDigit($0) && $1 | 0x20 == UInt8(ascii: "e") }
    guard !text.contains("\\u"), !hasExponent, bytes.count < 300 else { return }
    guard let other = try? JSONDecoder().decode(FoundationJSON.self, from: Data(bytes)).value else {
      throw BrokenRule(description: "Foundation refuses \(text.debugDescription)")
    }
    try compare(bytes, JSONReader(bytes), other)
  }

  /// `start` stands at the value.
  private static func compare(
    _ bytes: [UInt8], _ start: JSONReader, _ other: ConfigurationValue
  ) throws(BrokenRule) {
    var reader = start
    guard let value = reader.value() else { throw BrokenRule(description: "a value is none") }
    let text = value.string(in: bytes)
    reader = start
    switch other {
    case .text(let other):
      try require(text.map { $0.utf8.elementsEqual(other.utf8) } == true, "Foundation reads \(other.debugDescription)")
    case .bool(let bool): try require(value.isTrue == bool && text == nil, "Foundation reads \(bool)")
    case .number(let number):
      if let integer = value.integer(in: bytes) { try require(Double(integer) == number, "\(integer) is \(number)") }
    case .null: try require(value.isNull && text == nil, "Foundation reads null")
    case .list(let list):
      var elements: [JSONReader] = []
      let isArray = reader.array { reader in
        elements.append(reader)
        return reader.value() != nil
      }
      try require(isArray && elements.count == list.count, "a list of \(list.count) has \(elements.count)")
      for (element, other) in zip(elements, list) { try compare(bytes, element, other) }
    case .object(let object):
      var members: [(key: JSONKey, value: JSONReader)] = []
      let isObject = reader.object { name, reader in
        members.append((name.key(in: bytes), reader))
        return reader.value() != nil
      }
      try require(isObject, "Foundation reads an object")
      // Of names that stand twice each reader has its own, and long names are all one to ours.
      guard members.count == object.count, Set(members.map(\.key)).count == members.count else { return }
      for (name, other) in object {
        guard let member = members.first(where: { $0.key == JSONKey(name) }) else {
          throw BrokenRule(description: "no member \(name.debugDescription)")
        }
        try compare(bytes, member.value, other)
      }
    }
  }

  private static func jsonReply(_ bytes: [UInt8]) throws(BrokenRule) {
    let provider = JSONProvider(name: "fuzz", url: Asked.url)
    let reply = HTTPReply(status: .ok, contentType: "application/dns-json", body: bytes)
    for question in Asked.questions {
      let answer = try? provider.answer(from: reply, to: question)
      try Asked.check(answer, of: question)
      try Asked.check(answer, against: try? provider.records(from: reply, to: question.message))
    }
    for type in [DNSRecordType.mx, .txt, .srv, .soa, .caa, .https, .any] {
      let question = DNSQuestion(name: DNSName(Asked.host), type: type)
      let records = Result { () throws(ProviderFailure) in try provider.records(from: reply, to: question).records }
      try checkReason(records)
      for record in (try? records.get()) ?? [] {
        let text = record.description
        try require(text.printable == text, "a record cannot be shown: \(text.debugDescription)")
      }
    }
  }

  private static func dnspodReply(_ bytes: [UInt8]) throws(BrokenRule) {
    guard let provider = try? DNSPodProvider(name: "fuzz", url: Asked.url) else { return }
    let reply = HTTPReply(status: .ok, contentType: "text/html", body: bytes)
    for question in Asked.questions { try Asked.check(try? provider.answer(from: reply, to: question), of: question) }
  }

  /// All three forms; where one has several names, it says of each what it says of it alone.
  private static func emasReply(_ bytes: [UInt8]) throws(BrokenRule) {
    for path in ["/100000/d", "/100000/resolve", "/v2/d?id=100000"] {
      guard let provider = try? EMASProvider(name: "fuzz", url: WebURL(constant: "https://192.0.2.53" + path)) else {
        throw BrokenRule(description: "EMAS has no form \(path)")
      }
      for status in [HTTPResponse.Status.ok, .forbidden] {
        let reply = HTTPReply(status: status, contentType: "application/json", body: bytes)
        for question in Asked.questions {
          let answer = Result { () throws(ProviderFailure) in try provider.answer(from: reply, to: question) }
          try checkReason(answer)
          try Asked.check(try? answer.get(), of: question)
        }
        guard let answers = try? provider.answers(from: reply, to: Asked.questions) else { continue }
        try require(answers.count == Asked.questions.count, "a question of several has no answer")
        for (question, answer) in answers { try Asked.check(try? answer.get(), of: question) }
      }
    }
  }

  /// `Age`, `Cache-Control` and `Retry-After`, a line each.
  private static func replyFields(_ bytes: [UInt8]) throws(BrokenRule) {
    let lines = bytes.split(separator: 0x0a, maxSplits: 2, omittingEmptySubsequences: false).map { Array($0).asText }
    let (age, control, pause) = (lines[0], lines.count > 1 ? lines[1] : nil, lines.count > 2 ? lines[2] : nil)
    // A date is counted from another one.
    let reply = HTTPReply(
      status: .tooManyRequests, contentType: nil, age: age, cacheControl: control, retryAfter: pause, date: age)
    for ttl in [0, 1, 60, DNSRecord.lifetimeLimit, .max] {
      let lifetime = reply.freshness.lifetime(ttl)
      try require(lifetime <= ttl, "HTTP lengthens a lifetime of \(ttl) s to \(lifetime) s")
      let older = HTTPFreshness(age: "4294967295", cacheControl: control).lifetime(ttl)
      try require(older == 0, "a reply of any age is fresh for \(older) s")
    }
    guard case .failure(let failure) = Result(catching: { () throws(ProviderFailure) in try reply.checkStatus() }),
      case .rateLimited(let rest) = failure.kind
    else { throw BrokenRule(description: "429 limits no rate") }
    try require(rest.map { $0 >= .zero && $0 <= HTTPReply.longestPause } ?? true, "a pause of \(rest ?? .zero)")
  }

  private static func checkReason(_ result: Result<some Any, ProviderFailure>) throws(BrokenRule) {
    guard case .failure(let failure) = result else { return }
    try require(
      failure.reason.printable == failure.reason, "a reason cannot be shown: \(failure.reason.debugDescription)")
  }

  /// JSON5, whatever it says: what is read is written as JSON and read as the same, and faults can be shown.
  private static func configuration(_ bytes: [UInt8]) throws(BrokenRule) {
    switch Result(catching: { () throws(ConfigurationFault) in try JSON5Reader.read(bytes) }) {
    case .success(let value):
      let again = try? JSON5Reader.read(Array(written(value).utf8))
      try require(again.map(written) == written(value), "a value changes when it is written: \(written(value))")
    case .failure(let fault):
      try require(
        fault.message.printable == fault.message, "a fault cannot be shown: \(fault.message.debugDescription)")
    }
    let settings = Result { () throws(DirectDNSError) in
      try DirectSettings(ConfigurationFile(bytes, name: "dnsctl.json5"))
    }
    guard case .failure(let error) = settings else { return }
    try require(error.message.printable == error.message, "an error cannot be shown: \(error.message.debugDescription)")
  }

  /// A value as JSON5, members in the order of their names.
  private static func written(_ value: ConfigurationValue) -> String {
    switch value {
    case .null: "null"
    case .bool(let bool): "\(bool)"
    case .number(let number):
      number.isNaN ? "NaN" : number.isInfinite ? (number < 0 ? "-Infinity" : "Infinity") : "\(number)"
    case .text(let text): JSONLine.string(text)
    case .list(let list): "[" + list.map(written).joined(separator: ",") + "]"
    case .object(let object):
      "{"
        + object.sorted { $0.key < $1.key }.map { JSONLine.string($0.key) + ":" + written($0.value) }.joined(
          separator: ",") + "}"
    }
  }
}

/// What Foundation reads.
private struct FoundationJSON: Decodable {
  let value: ConfigurationValue

  private struct Key: CodingKey {
    let stringValue: String
    let intValue: Int? = nil
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: Key.self) {
      let pairs = try container.allKeys.map { ($0.stringValue, try container.decode(Self.self, forKey: $0).value) }
      value = .object(Dictionary(pairs) { first, _ in first })
    } else if let list = try? decoder.singleValueContainer().decode([Self].self) {
      value = .list(list.map(\.value))
    } else {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        value = .null
      } else if let bool = try? container.decode(Bool.self) {
        value = .bool(bool)
      } else if let text = try? container.decode(String.self) {
        value = .text(text)
      } else {
        value = .number(try container.decode(Double.self))
      }
    }
  }
}
