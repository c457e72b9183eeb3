// SPDX-License-Identifier: Apache-2.0
/// Transfers by HTTP/2 whose response is whole, by its length, while the request's body may still be on its way
/// (RFC 9113 §8.1): a pure value.
///
/// Where the server has reset the stream, libcurl before 8.1 goes on wanting to send: its socket is ready all the time, and
/// nothing is ever sent. What has sent nothing for a while has its response, and ends, unless it waits for something else:
/// HTTP/2 lets an upload go on behind its answer.
struct EarlyAnswers<ID: Hashable> {
  /// Milliseconds without a byte sent, after which a transfer ends.
  static var timeout: Int64 { 100 }

  private var all: [(id: ID, sent: Int64, since: Int64)] = []

  /// When the first of them may have to end.
  private(set) var due = Int64.max

  /// A response is whole; so much of the request's body has been sent.
  mutating func note(_ id: ID, sent: Int64, at now: Int64) {
    guard !all.contains(where: { $0.id == id }) else { return }
    all.append((id, sent, now))
    due = min(due, now + Self.timeout)
  }

  /// Takes those that are stuck.
  ///
  /// - Parameters:
  ///   - now: the present.
  ///   - sent: how much each has sent by now; nil for one that is over.
  ///   - waits: whether one waits for its source or for the server: it has its time anew.
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
