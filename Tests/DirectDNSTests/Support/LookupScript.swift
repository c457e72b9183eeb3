// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// What each of those says whom a lookup may ask, as soon as it is asked.
///
/// It leads a machine through one lookup, in moved time.
struct LookupScript: Sendable {
  enum Reply: Sendable { case answers, denies, fails, isSilent }
  enum Stored: Sendable { case nothing, fresh, stale, isSilent }

  /// What the store has; nil if there is none.
  var store: Stored?
  var providers = Reply.answers
  /// What the providers say of IPv6; nil if it is the same.
  var providersOfIPv6: Reply?
  /// What the system's DNS says; nil if it is off.
  var system: Reply? = .answers

  /// The way of a lookup: who is asked, and at the end what the caller gets, and after how long.
  ///
  /// A caller who is served at once comes first; what is asked behind him follows.
  func way(
    of machine: inout LookupMachine, at seconds: Double,
    begin: (inout LookupMachine, ResolverInstant) -> LookupMachine.Beginning
  ) -> [String] {
    let start = Sample.at(seconds)
    var now = start
    var way: [String] = []
    var late: [(at: ResolverInstant, tell: (inout LookupMachine, ResolverInstant) -> Void)] = []
    if case .known(let result) = begin(&machine, now) { way = [Self.text(result, after: .zero)] }
    let isKnown = !way.isEmpty
    while true {
      let actions = machine.takeActions()
      for action in actions {
        switch action {
        case .readStore(let number, let question):
          way.append("store \(question.type)")
          if let reading = reading(question, at: now) { machine.storeRead(number, reading, at: now) }
        case .query(.send(let number, _, let subject, let timeout)):
          guard case .one(let question) = subject else { continue }
          way.append("provider \(question.type)")
          if let reply = reply(to: question, at: now) {
            machine.ended(number, reply, at: now)
          } else {
            let timedOut = QueryMachine.Reply(
              ProviderFailure(HTTPTransportError.timedOut), .timedOut, asked: now, to: subject)
            late.append((now + timeout, { $0.ended(number, timedOut, at: $1) }))
          }
        case .askSystem(let number, let question, _, let timeout):
          way.append("system \(question.type)")
          if let result = systemResult(question) {
            machine.systemAnswered(number, result, at: now)
          } else {
            let timedOut = Result<Answer, ProviderFailure>.failure(ProviderFailure(.transport, "timed out"))
            late.append((now + timeout, { $0.systemAnswered(number, timedOut, at: $1) }))
          }
        default: break
        }
      }
      for case .answer(_, let result, _) in machine.takeEndings() {
        return way + [Self.text(result, after: now - start)]
      }
      guard actions.isEmpty else { continue }
      if isKnown { return way }
      // Whoever waits is told of the time first.
      let reply = late.indices.min { late[$0].at < late[$1].at }
      if let instant = machine.nextInstant(), reply.map({ instant <= late[$0].at }) ?? true {
        now = instant
        machine.timePassed(at: now)
      } else if let reply {
        let (instant, tell) = late.remove(at: reply)
        now = instant
        tell(&machine, now)
      } else {
        return way + ["nothing more"]
      }
    }
  }

  private static func text(_ result: Result<Resolution, DirectDNSError>, after duration: Duration) -> String {
    let text =
      switch result {
      case .success(let resolution): "\(resolution.texts.joined(separator: " ")) \(resolution.freshness)"
      case .failure(let error): "\(error.code)"
      }
    return duration > .zero ? "\(text) after \(duration.wholeMilliseconds) ms" : text
  }

  private func address(_ question: AddressQuestion, of last: Int) -> IPAddress {
    Sample.address(question.family == .ipv4 ? "192.0.2.\(last)" : "2001:db8::\(last)")
  }

  /// The store's answer is of the last ten seconds, or of an hour ago.
  private func reading(_ question: AddressQuestion, at now: ResolverInstant) -> StoreReading<CacheEntry>? {
    let age: Int64
    switch store {
    case .nothing?, nil: return .nothing
    case .isSilent?: return nil
    case .fresh?: age = 10
    case .stale?: age = 3600
    }
    let asked = now.nanoseconds - age * 1_000_000_000
    return .found(
      CacheEntry(
        content: .addresses([address(question, of: 7)]), canonicalName: nil, source: SourceNames.store,
        life: CacheLife(askedAt: asked, expireAt: asked + 100_000_000_000)))
  }

  private func reply(to question: AddressQuestion, at now: ResolverInstant) -> QueryMachine.Reply? {
    switch question.family == .ipv6 ? providersOfIPv6 ?? providers : providers {
    case .answers:
      QueryMachine.Reply(
        asked: now, reading: .one(.success(Answer(.addresses([address(question, of: 1)]), ttl: 100))), status: 200)
    case .denies: QueryMachine.Reply(asked: now, reading: .one(.success(.negative(.nameNotFound))), status: 200)
    case .fails:
      QueryMachine.Reply(ProviderFailure(.transport, "refused"), .connect("refused"), asked: now, to: .one(question))
    case .isSilent: nil
    }
  }

  private func systemResult(_ question: AddressQuestion) -> Result<Answer, ProviderFailure>? {
    switch system {
    case .answers?: .success(Answer(.addresses([address(question, of: 9)]), ttl: 300))
    case .denies?: .success(.negative(.nameNotFound))
    case .fails?, nil: .failure(ProviderFailure(.transport, "no name server"))
    case .isSilent?: nil
    }
  }
}
