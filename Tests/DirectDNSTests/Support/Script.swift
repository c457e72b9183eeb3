// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// What a scripted upstream does with one query.
struct Script: Sendable {
  enum Outcome: Sendable {
    case answer(Answer)
    /// A DNS reply that is no answer, such as SERVFAIL.
    case responseCode(DNSMessage.ResponseCode)
    case status(Int, retryAfter: Int? = nil)
    case error(HTTPTransportError)
  }

  var outcome: Outcome
  /// How long the reply takes, on the test's clock; more than the query may take is a timeout.
  var delay = Duration.zero

  static func answer(_ answer: Answer, after delay: Duration = .zero) -> Script {
    Script(outcome: .answer(answer), delay: delay)
  }
  static func code(_ code: DNSMessage.ResponseCode, after delay: Duration = .zero) -> Script {
    Script(outcome: .responseCode(code), delay: delay)
  }
  static func status(_ status: Int, retryAfter: Int? = nil) -> Script {
    Script(outcome: .status(status, retryAfter: retryAfter))
  }
  static func error(_ error: HTTPTransportError, after delay: Duration = .zero) -> Script {
    Script(outcome: .error(error), delay: delay)
  }
  /// No reply ever: a timeout.
  static let silence = Script(outcome: .error(.timedOut), delay: .seconds(1_000_000))
  static let down = Script(outcome: .error(.connect("refused")))

  /// Addresses for A and AAAA; a family of which there are none has no address.
  static func addresses(_ texts: String..., ttl: UInt32 = 300, after delay: Duration = .zero)
    -> @Sendable (
      AddressQuestion
    ) -> Script
  {
    let addresses = texts.map(Sample.address)
    return { question in
      let own = addresses.filter { $0.family == question.family }
      return .answer(own.isEmpty ? .negative(.noAddress) : Answer(.addresses(own), ttl: ttl), after: delay)
    }
  }
}
