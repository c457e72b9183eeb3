// SPDX-License-Identifier: Apache-2.0
/// A DNS message (RFC 1035 §4), with EDNS (RFC 6891) taken out of its additional section.
public struct DNSMessage: Hashable, Sendable {
  /// A response code, with EDNS's upper bits.
  public struct ResponseCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The code's number.
    public let rawValue: UInt16

    /// The code of that number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// NOERROR.
    public static let noError = ResponseCode(rawValue: 0)
    /// FORMERR: the server could not read the query.
    public static let formatError = ResponseCode(rawValue: 1)
    /// SERVFAIL: the server failed.
    public static let serverFailure = ResponseCode(rawValue: 2)
    /// NXDOMAIN: the name does not exist.
    public static let nameError = ResponseCode(rawValue: 3)
    /// NOTIMP: the server cannot do this.
    public static let notImplemented = ResponseCode(rawValue: 4)
    /// REFUSED: the server will not do this.
    public static let refused = ResponseCode(rawValue: 5)

    private static let mnemonics = ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"]

    /// The mnemonic, or `RCODE` and the number.
    public var description: String {
      Int(rawValue) < Self.mnemonics.count ? Self.mnemonics[Int(rawValue)] : "RCODE\(rawValue)"
    }
  }

  /// What EDNS adds to a message (RFC 6891).
  public struct EDNS: Hashable, Sendable {
    /// The largest UDP message that the sender takes, in bytes.
    public var payloadSize: UInt16
    /// The options, in the order of the message.
    public var options: [Option]

    /// One option.
    public struct Option: Hashable, Sendable {
      /// The option's code.
      public var code: UInt16
      /// The option's bytes.
      public var data: [UInt8]

      /// Creates an option.
      public init(code: UInt16, data: [UInt8]) {
        self.code = code
        self.data = data
      }
    }

    /// Creates EDNS data.
    public init(payloadSize: UInt16 = 1232, options: [Option] = []) {
      self.payloadSize = payloadSize
      self.options = options
    }

    /// The extended errors (option 15, RFC 8914): each a code and a text for people.
    public var extendedErrors: [(code: UInt16, text: String)] {
      options.compactMap { option in
        guard option.code == 15, option.data.count >= 2 else { return nil }
        // It may end with a NUL, or not (RFC 8914 §2).
        let text = option.data.dropFirst(2)
        return (
          UInt16(option.data[0]) << 8 | UInt16(option.data[1]),
          String(decoding: text.last == 0 ? text.dropLast() : text, as: UTF8.self)
        )
      }
    }
  }

  /// Matches a response to its query; 0 over HTTP (RFC 8484 §4.1).
  public var id: UInt16
  /// Whether this is a response.
  public var isResponse: Bool
  /// The kind of query; 0 is a standard one.
  public var opcode: UInt8
  /// The server is an authority for the name.
  public var isAuthoritative: Bool
  /// The message was cut (TC).
  public var isTruncated: Bool
  /// The client wants recursion.
  public var recursionDesired: Bool
  /// The server offers recursion.
  public var recursionAvailable: Bool
  /// The outcome.
  public var responseCode: ResponseCode
  /// What was asked.
  public var questions: [DNSQuestion]
  /// The answer section.
  public var answers: [DNSRecord]
  /// The authority section, where the SOA of a negative answer is.
  public var authorities: [DNSRecord]
  /// The additional section, without EDNS.
  public var additionals: [DNSRecord]
  /// EDNS data, if the message has it.
  public var edns: EDNS?

  /// Creates a message; by default a standard query that wants recursion.
  public init(
    id: UInt16 = 0, isResponse: Bool = false, opcode: UInt8 = 0, isAuthoritative: Bool = false,
    isTruncated: Bool = false, recursionDesired: Bool = true, recursionAvailable: Bool = false,
    responseCode: ResponseCode = .noError, questions: [DNSQuestion], answers: [DNSRecord] = [],
    authorities: [DNSRecord] = [], additionals: [DNSRecord] = [], edns: EDNS? = nil
  ) {
    self.id = id
    self.isResponse = isResponse
    self.opcode = opcode
    self.isAuthoritative = isAuthoritative
    self.isTruncated = isTruncated
    self.recursionDesired = recursionDesired
    self.recursionAvailable = recursionAvailable
    self.responseCode = responseCode
    self.questions = questions
    self.answers = answers
    self.authorities = authorities
    self.additionals = additionals
    self.edns = edns
  }
}

/// Why bytes are not a DNS message.
public struct DNSMessageError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong, and at which byte.
  public let description: String

  init(_ what: String, at offset: Int) { description = "\(what) at byte \(offset)" }
}
