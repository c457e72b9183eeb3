// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import HTTPTypes
import NIOCore

/// The state of a fake provider: its requests, its connections, and its misbehaviours.
struct ProviderState: ServerState {
  /// Misbehaviours and the requests that they apply to.
  struct Rule: Sendable {
    let misbehaviours: [Misbehaviour]
    var remaining: Int?
    let condition: (@Sendable (RecordedRequest) -> Bool)?
  }

  let configuration: FakeProviderConfiguration
  var records: RecordTable
  var log = ServerLog()
  var rules: [Rule] = []
  var held: [@Sendable () -> Void] = []

  init(configuration: FakeProviderConfiguration, records: RecordTable) {
    self.configuration = configuration
    self.records = records
  }

  /// Records a request and decides how it is answered.
  mutating func receive(_ head: IncomingRequest, on connection: ServerConnection) -> PlannedReply {
    var request = log.count(head, on: connection)
    let format = ProviderRoute.format(path: request.path, request: request, vendor: configuration.vendor)
    request.questions = format?.questions(in: request, configuration: configuration) ?? []
    log.requests.append(request)
    let distortion = Distortion(takeMisbehaviours(for: request))
    let now = configuration.secondsSince1970
    let context = AnswerContext(
      records: records, configuration: configuration, distortion: distortion, now: now)
    var reply = distortion.reply ?? format?.reply(to: request, in: context) ?? .refusal(404, "No such path.")
    for change in distortion.replyChanges { change(&reply) }
    reply.fields[.date] = HTTPDate.text(secondsSince1970: now + distortion.dateOffset)
    return PlannedReply(reply: reply, distortion: distortion)
  }

  /// Only the first matching rule applies; it is removed after its number of requests.
  private mutating func takeMisbehaviours(for request: RecordedRequest) -> [Misbehaviour] {
    guard let index = rules.firstIndex(where: { $0.condition?(request) ?? true }) else { return [] }
    let misbehaviours = rules[index].misbehaviours
    if let remaining = rules[index].remaining {
      rules[index].remaining = remaining - 1
      if remaining <= 1 { rules.remove(at: index) }
    }
    return misbehaviours
  }
}

/// A reply, and how it is to be sent.
struct PlannedReply: Sendable {
  let reply: ProviderReply
  let distortion: Distortion
}
