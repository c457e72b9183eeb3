// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import HTTPTypes

/// The combined effect of a list of misbehaviours, by the place where it applies.
struct Distortion: Sendable {
  /// When an answer goes out.
  enum Gate: Sendable {
    case open
    case delayed(Duration)
    case held
    case shut
  }

  /// How the exchange ends.
  enum Ending: Sendable {
    case answered
    case closed
    case reset
    case cut
    case refused
    case goAway(processed: Bool)
  }

  /// How the body is sent.
  enum Pace: Sendable {
    case whole
    case heldHalfway
    case dripping(bytes: Int, pause: Duration)
  }

  /// What is sent in place of JSON's `Answer`.
  enum AnswerMember: Sendable {
    case missing
    case empty
    case null
  }

  var gate = Gate.open
  var ending = Ending.answered
  var pace = Pace.whole
  var hasLength = true

  /// Replaces the whole reply; the changes of records and JSON below are ignored then.
  var reply: ProviderReply?
  /// Changes of a finished reply, in order.
  var replyChanges: [@Sendable (inout ProviderReply) -> Void] = []
  var dateOffset: Int64 = 0

  var refusesCredentials = false
  var vendorError: (code: String, status: Int?)?
  var noAddressCode: String?
  var extra: String?

  /// Changes of the table's answer, in order.
  var lookupChanges: [@Sendable (inout RecordTable.Lookup) -> Void] = []
  var isTruncated = false
  var hasWrongQuestion = false
  var hasWrongID = false

  var answerMember: AnswerMember?
  var hasStatus = true
  var writesNumbersAsText = false
  var isShort = false

  /// The name that answers are for with a wrong question.
  static let wrongName = RecordTable.name("wrong.test")
  /// The owner of poisoned records.
  static let poisonedName = RecordTable.name("poisoned.test")

  init(_ misbehaviours: [Misbehaviour]) {
    for misbehaviour in misbehaviours { apply(misbehaviour) }
  }

  private mutating func apply(_ misbehaviour: Misbehaviour) {
    switch misbehaviour {
    case .delay(let duration): gate = .delayed(duration)
    case .hold: gate = .held
    case .hang: gate = .shut
    case .holdBody: pace = .heldHalfway
    case .drip(let bytes, let pause): pace = .dripping(bytes: max(1, bytes), pause: pause)
    case .close: ending = .closed
    case .reset: ending = .reset
    case .truncatedBody: ending = .cut
    case .refuseStream: ending = .refused
    case .goAway(let processed): ending = .goAway(processed: processed)
    case .chunked: hasLength = false
    case .status(let status, let fields, let body):
      reply = ProviderReply(
        status: status, contentType: body.isEmpty ? nil : "text/plain", fields: fields, body: body)
    case .html:
      reply = ProviderReply(
        contentType: "text/html; charset=utf-8",
        body: "<!DOCTYPE html><title>Log in</title><p>Please log in to the network at 192.0.2.80.")
    case .contentType(let type): change { $0.contentType = type }
    case .fields(let fields):
      change { reply in for field in fields { reply.fields[field.name] = field.value } }
    case .emptyBody: change { $0.body = [] }
    case .body(let bytes): change { $0.body = bytes }
    case .padded(let count): change { $0.pad(to: count) }
    case .gzip:
      change { reply in
        reply.body = Gzip.wrapped(reply.body)
        reply.fields[.contentEncoding] = "gzip"
      }
    case .age(let seconds): change { $0.fields[.age] = "\(seconds)" }
    case .cacheControl(let value): change { $0.fields[.cacheControl] = value }
    case .dateOff(let seconds): dateOffset = seconds
    case .badKey: refusesCredentials = true
    case .vendorError(let code, let status): vendorError = (code, status)
    case .noAddressCode(let code): noAddressCode = code
    case .extra(let text): extra = text
    case .responseCode(let code): lookupChanges.append { $0 = RecordTable.Lookup(responseCode: code) }
    case .truncated: isTruncated = true
    case .ttl(let ttl):
      lookupChanges.append { lookup in for index in lookup.answers.indices { lookup.answers[index].ttl = ttl }
      }
    case .aliasOnly: lookupChanges.append { $0.answers.removeAll { $0.type != .cname } }
    case .answers(let records): lookupChanges.append { $0 = RecordTable.Lookup(answers: records) }
    case .poisoned(let address):
      let record = DNSRecord(
        owner: Self.poisonedName, type: DNSRecordType(address.family), ttl: 300, data: .address(address))
      lookupChanges.append { $0.answers.insert(record, at: 0) }
    case .wrongQuestion: hasWrongQuestion = true
    case .wrongID: hasWrongID = true
    case .missingAnswer: answerMember = .missing
    case .emptyAnswer: answerMember = .empty
    case .nullAnswer: answerMember = .null
    case .missingStatus: hasStatus = false
    case .textNumbers: writesNumbersAsText = true
    case .short: isShort = true
    }
  }

  private mutating func change(_ body: @escaping @Sendable (inout ProviderReply) -> Void) {
    replyChanges.append(body)
  }
}
