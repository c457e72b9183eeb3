// SPDX-License-Identifier: Apache-2.0
/// A provider whose format carries records of any type.
///
/// DNS messages do, and the JSON APIs; DNSPod's `/d` and EMAS carry addresses alone.
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
  /// - Throws: why the reply is no answer.
  func records(from reply: HTTPReply, to question: DNSQuestion) throws(ProviderFailure) -> RecordAnswer
}
