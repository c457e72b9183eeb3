// SPDX-License-Identifier: Apache-2.0
/// What a resolver asks a provider: the addresses of one family of one name.
public struct AddressQuestion: Hashable, Sendable, CustomStringConvertible {
  /// The name.
  public var host: HostName
  /// The family.
  public var family: IPAddress.Family

  /// Creates a question.
  public init(_ host: HostName, _ family: IPAddress.Family) {
    self.host = host
    self.family = family
  }

  /// The same question, if it asks for a host's addresses; nil for any other.
  package init?(_ question: DNSQuestion) {
    guard let host = question.name.hostName, question.type == .a || question.type == .aaaa else { return nil }
    self.init(host, question.type == .a ? .ipv4 : .ipv6)
  }

  /// The record type that answers the question: A or AAAA.
  public var type: DNSRecordType { DNSRecordType(family) }

  /// The question about the same name's other family.
  var ofOtherFamily: AddressQuestion { AddressQuestion(host, family == .ipv4 ? .ipv6 : .ipv4) }

  /// The question as a DNS message has it.
  var message: DNSQuestion { DNSQuestion(name: DNSName(host), type: type) }

  /// The name and the type.
  public var description: String { "\(host.shown) \(type)" }
}

/// One wire format of one endpoint: how a question becomes a request, and how a reply is read.
///
/// Both are pure functions.
public protocol Provider: Sendable, CustomStringConvertible, CustomReflectable {
  /// A short name for logs, errors and metrics, such as `alidns`.
  var name: String { get }

  /// Where requests go.
  ///
  /// Its query may be secret and is never shown.
  var url: WebURL { get }

  /// The request that asks a question.
  ///
  /// - Parameters:
  ///   - question: what to ask.
  ///   - secondsSince1970: the wall clock, for signatures.
  /// - Returns: the request, which may hold a signature.
  func request(for question: AddressQuestion, at secondsSince1970: Int64) -> HTTPMessage

  /// Reads a reply.
  ///
  /// - Parameters:
  ///   - reply: what came back.
  ///   - question: what was asked; a reply to anything else is a failure.
  /// - Returns: addresses, or a negative answer.
  /// - Throws: why the reply is not an answer.
  func answer(from reply: HTTPReply, to question: AddressQuestion) throws(ProviderFailure) -> Answer
}

/// A provider whose name can be set.
package protocol NameableProvider: Provider {
  var name: String { get set }
}

/// A format that takes several names in one request.
protocol BatchProvider: Provider {
  /// The most names in one request.
  var batchLimit: Int { get }

  /// Whether a reply says, in the format's own words, that the server takes fewer names at once.
  func refusesBatch(_ reply: HTTPReply) -> Bool

  /// The request that asks several questions.
  func request(for questions: [AddressQuestion], at secondsSince1970: Int64) -> HTTPMessage

  /// Reads a reply.
  ///
  /// - Returns: the result for each question; a failure for those that it does not answer.
  /// - Throws: why the reply is not an answer to any of them.
  func answers(
    from reply: HTTPReply, to questions: [AddressQuestion]
  ) throws(ProviderFailure) -> [AddressQuestion: Result<Answer, ProviderFailure>]
}

extension Provider {
  /// The name and the origin; the rest of the URL may hold a key.
  public var description: String { "\(name) at \(url.originText)" }
  /// The name and the origin.
  public var customMirror: Mirror { Mirror(self, children: ["name": name, "origin": url.originText]) }
}

/// Why an endpoint gave no answer.
public struct ProviderFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// What a failure says about the endpoint's health.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Kind: Hashable, Sendable {
    /// The endpoint does not work: no connection, TLS, timeout, 5xx, or a reply that is not a DNS reply. Three in a
    /// row, those of one lookup counted once, open its breaker.
    case transport
    /// The endpoint works and cannot answer this question: an RCODE, an error of its own format, or records that cannot
    /// be used.
    case response
    /// The endpoint asks for fewer requests (429), for the time of `Retry-After` if it gives one.
    case rateLimited(retryAfter: Duration?)
    /// This machine could not ask, for want of a socket or because it could not set up TLS; it says nothing about the
    /// endpoint.
    case local
    /// The caller no longer wants the answer; it says nothing about the endpoint.
    case cancelled
  }

  /// What it says about the endpoint's health.
  public var kind: Kind
  /// What happened, in words, without secrets.
  public var reason: String

  /// Creates a failure.
  public init(_ kind: Kind, _ reason: String) {
    self.kind = kind
    self.reason = reason.printable
  }

  /// The reason.
  public var description: String { reason }

  /// A reply that is not a DNS reply.
  static func malformed(_ reason: String) -> Self { Self(.transport, reason) }

  init(_ error: HTTPTransportError) {
    let kind: Kind =
      switch error {
      case .cancelled, .shutDown: .cancelled
      case .noSocket, .tlsSetup: .local
      // More records than fit into JSON of that size: anybody may publish as many.
      case .bodyTooLarge: .response
      default: .transport
      }
    self.init(kind, error.description)
  }
}

/// A provider whose format carries records of any type.
///
/// DNS messages and the JSON APIs do; DNSPod's `/d` and EMAS carry only addresses.
public protocol RecordProvider: Provider {
  /// The request that asks for records.
  ///
  /// - Parameters:
  ///   - question: what to ask, in class IN.
  ///   - secondsSince1970: the wall clock, for signatures.
  /// - Returns: the request, which may hold a signature.
  func request(for question: DNSQuestion, at secondsSince1970: Int64) -> HTTPMessage

  /// Reads a reply.
  ///
  /// - Parameters:
  ///   - reply: what came back.
  ///   - question: what was asked; a reply to anything else is a failure.
  /// - Returns: records, or a negative answer.
  /// - Throws: why the reply is not an answer.
  func records(from reply: HTTPReply, to question: DNSQuestion) throws(ProviderFailure) -> RecordAnswer
}

extension Provider {
  /// Whether the format carries records that answer a question; each carries addresses.
  func carries(_ question: DNSQuestion) -> Bool { self is any RecordProvider || AddressQuestion(question) != nil }

  /// The request that asks for records; nil if the format does not carry them.
  func request(forRecords question: DNSQuestion, at secondsSince1970: Int64) -> HTTPMessage? {
    if let provider = self as? any RecordProvider { return provider.request(for: question, at: secondsSince1970) }
    return AddressQuestion(question).map { request(for: $0, at: secondsSince1970) }
  }

  /// Reads a reply to a question for records.
  func records(of question: DNSQuestion, in reply: HTTPReply) throws(ProviderFailure) -> RecordAnswer {
    if let provider = self as? any RecordProvider { return try provider.records(from: reply, to: question) }
    guard let addresses = AddressQuestion(question) else { throw .notCarried }
    return RecordAnswer(try answer(from: reply, to: addresses), to: question)
  }
}

extension ProviderFailure {
  /// A question that the server's format has no query for.
  static let notCarried = Self(.response, "its format does not carry that question")

  /// A reply that the server has cut off, since it has more records than fit: anybody may publish as many.
  static func truncated(_ what: String) -> Self { Self(.response, "a truncated \(what)") }
}
