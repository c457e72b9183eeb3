// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import HTTPTypes
import NIOCore

/// The state of a fake provider: its requests, its connections, and its misbehaviours.
struct ProviderState: ServerState {
  let configuration: FakeProviderConfiguration
  var records: RecordTable
  var log = ServerLog()
  var rules = MisbehaviourRules<Misbehaviour, RecordedRequest>()
  var held: [@Sendable () -> Void] = []

  init(configuration: FakeProviderConfiguration, records: RecordTable) {
    self.configuration = configuration
    self.records = records
  }

  /// Records a request and decides how it is answered: the reply, and how it is to be sent.
  mutating func receive(
    _ head: IncomingRequest, on connection: ServerConnection
  ) -> (reply: ProviderReply, distortion: Distortion) {
    var request = log.count(head, on: connection)
    let format = ProviderRoute.format(path: request.path, request: request, vendor: configuration.vendor)
    request.questions = format?.questions(in: request, configuration: configuration) ?? []
    log.requests.append(request)
    let distortion = Distortion(rules.take(for: request))
    let now = configuration.secondsSince1970
    let context = AnswerContext(
      records: records, configuration: configuration, distortion: distortion, now: now)
    var reply = distortion.reply ?? format?.reply(to: request, in: context) ?? .refusal(404, "No such path.")
    for change in distortion.replyChanges { change(&reply) }
    reply.fields[.date] = HTTPDate.text(secondsSince1970: now + distortion.dateOffset)
    return (reply, distortion)
  }
}
