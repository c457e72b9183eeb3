// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

/// One thing that a ``FakeNameServer`` does wrong.
///
/// Several can be given at once.
public enum NameServerMisbehaviour: Sendable {
  /// Never answers; a TCP connection stays open.
  case drop
  /// Answers that much later, by the machine's own clock.
  case delay(Duration)
  /// Answers when ``FakeNameServer/release()`` is called.
  case hold
  /// Answers with a response code and no records.
  case responseCode(DNSMessage.ResponseCode)
  /// Answers over UDP with TC and no records, over TCP in full.
  case truncated
  /// Answers with another message id.
  case wrongID
  /// Answers as if `wrong.test` had been asked for.
  case wrongQuestion
  /// Gives every record this TTL.
  case ttl(UInt32)
  /// Answers with bytes that are no DNS message.
  case garbage
  /// Closes a TCP connection instead of answering; over UDP the same as ``drop``.
  case close
}
