// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

/// One query as a ``FakeNameServer`` received it.
public struct RecordedQuery: Sendable {
  /// What carried the query.
  public enum Transport: Hashable, Sendable {
    /// One datagram.
    case udp
    /// A connection, on which each message follows its length (RFC 1035 §4.2.2).
    case tcp
  }

  /// The query's place in the order of arrival, from 1.
  public let number: Int
  /// What carried it.
  public let transport: Transport
  /// The message.
  public let message: DNSMessage

  /// The name asked for, without its final dot.
  public var name: String? { message.questions.first?.name.text }

  /// The type asked for.
  public var type: DNSRecordType? { message.questions.first?.type }
}
