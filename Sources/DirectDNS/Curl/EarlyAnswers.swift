// SPDX-License-Identifier: Apache-2.0
/// HTTP/2 transfers whose response is complete, by its length, while the request's body may still be on its way
/// (RFC 9113 §8.1): a pure value.
///
/// If the server has reset the stream after its response, libcurl before 8.1 does not notice: it goes on trying to
/// send, its socket is always writable, and nothing is sent. Nor does it always notice that the whole body is sent, if
/// the response was there before. So a transfer that has sent nothing for a while is ended with its response, unless it
/// has a reason to wait: HTTP/2 allows an upload to continue after the response.
struct EarlyAnswers<ID: Hashable> {
  /// Milliseconds without a byte sent, after which a transfer ends.
  static var timeout: Int64 { 100 }

  private var all: [(id: ID, sent: Int64, since: Int64)] = []

  /// When the first of them may have to be ended.
  private(set) var due = Int64.max

  /// A response is complete, and so much of the request's body has been sent.
  mutating func note(_ id: ID, sent: Int64, at now: Int64) {
    guard !all.contains(where: { $0.id == id }) else { return }
    all.append((id, sent, now))
    due = min(due, now + Self.timeout)
  }

  /// Takes out those that are stuck.
  ///
  /// - Parameters:
  ///   - now: the present.
  ///   - sent: how much a transfer has sent by now; nil if it has ended.
  ///   - waits: whether a transfer waits for its source or for the server to read: then its time begins again.
  /// - Returns: the transfers that are to end.
  mutating func takeStuck(at now: Int64, sent: (ID) -> Int64?, waits: (ID) -> Bool = { _ in false }) -> [ID] {
    guard due <= now else { return [] }
    var stuck: [ID] = []
    all = all.compactMap { entry in
      guard let count = sent(entry.id) else { return nil }
      if count > entry.sent { return (entry.id, count, now) }
      guard entry.since + Self.timeout <= now else { return entry }
      if waits(entry.id) { return (entry.id, count, now) }
      stuck.append(entry.id)
      return nil
    }
    due = all.map { $0.since + Self.timeout }.min() ?? .max
    return stuck
  }
}
