// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import NIOCore

/// The state of a fake name server, and how it answers.
struct NameServerState: Sendable {
  /// When an answer goes out.
  enum Gate: Sendable {
    case open
    case delayed(Duration)
    case held
    case shut
    case closing
  }

  /// The largest answer over UDP to a client that does not announce a size (RFC 1035 §4.2.1).
  private static let datagramLimit = 512

  var records: RecordTable
  var queries: [RecordedQuery] = []
  var rules = MisbehaviourRules<NameServerMisbehaviour, RecordedQuery>()
  var held: [@Sendable () -> Void] = []
  var connections: [ObjectIdentifier: any Channel] = [:]
  var isStopped = false

  init(records: RecordTable) { self.records = records }

  /// Records a query and makes its answer.
  ///
  /// Bytes that are no query get no answer.
  mutating func receive(
    _ bytes: [UInt8], over transport: RecordedQuery.Transport
  ) -> (bytes: [UInt8], gate: Gate)? {
    guard let message = try? DNSMessage(decoding: bytes), !message.isResponse,
      let question = message.questions.first
    else { return nil }
    let query = RecordedQuery(number: queries.count + 1, transport: transport, message: message)
    queries.append(query)
    return answer(to: message, question, over: transport, distortedBy: rules.take(for: query))
  }

  private func answer(
    to message: DNSMessage, _ question: DNSQuestion, over transport: RecordedQuery.Transport,
    distortedBy misbehaviours: [NameServerMisbehaviour]
  ) -> (bytes: [UInt8], gate: Gate) {
    let lookup = records.lookup(question)
    var answer = DNSMessage(
      id: message.id, isResponse: true, recursionDesired: message.recursionDesired,
      recursionAvailable: true, responseCode: lookup.responseCode, questions: message.questions,
      answers: lookup.answers, authorities: lookup.authorities,
      edns: message.edns == nil ? nil : DNSMessage.EDNS())
    var gate = Gate.open
    var isGarbage = false
    var isTruncated = false
    for misbehaviour in misbehaviours {
      switch misbehaviour {
      case .drop: gate = .shut
      case .delay(let duration): gate = .delayed(duration)
      case .hold: gate = .held
      case .close: gate = .closing
      case .truncated: isTruncated = true
      case .garbage: isGarbage = true
      case .wrongID: answer.id ^= 0x5555
      case .wrongQuestion: answer.questions[0].name = Distortion.wrongName
      case .ttl(let ttl): for index in answer.answers.indices { answer.answers[index].ttl = ttl }
      case .responseCode(let code):
        answer.responseCode = code
        answer.answers = []
        answer.authorities = []
      }
    }
    if isGarbage { return (Array("garbage".utf8), gate) }
    let limit = max(Self.datagramLimit, Int(message.edns?.payloadSize ?? 0))
    if transport == .udp, isTruncated || answer.encoded().count > limit {
      answer.isTruncated = true
      answer.answers = []
      answer.authorities = []
    }
    return (answer.encoded(), gate)
  }
}
