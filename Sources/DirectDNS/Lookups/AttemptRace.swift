// SPDX-License-Identifier: Apache-2.0
/// The attempts of one lookup that run at a time, and when something is to be decided about them.
///
/// A value, moved by what begins and ends, and by `now`.
struct AttemptRace: Sendable, Hashable {
  /// What is to be decided.
  enum Decision: Sendable, Hashable {
    /// The first endpoint takes longer than it usually does: a second one may be asked too.
    case hedge
    /// The attempt of that endpoint has had its time: it makes room, if there is anybody to make room for.
    case relief(of: Int)
  }

  private struct Attempt: Sendable, Hashable {
    var number: Int
    /// When it has had its time; nothing once that is decided.
    var reliefAt: ResolverInstant?
  }

  /// How long an attempt may take while there is another endpoint to ask in its place.
  private let time: Duration
  private var hedgeAt: ResolverInstant?
  private var running: [Attempt] = []

  /// Begins a race without attempts.
  ///
  /// - Parameters:
  ///   - time: how long an attempt may take while there is another endpoint to ask in its place.
  ///   - hedgeAt: when a second endpoint may be asked beside the first; nil for not at all.
  init(time: Duration, hedgeAt: ResolverInstant?) {
    self.time = time
    self.hedgeAt = hedgeAt
  }

  var isOver: Bool { running.isEmpty }

  mutating func begin(_ number: Int, at now: ResolverInstant) {
    running.append(Attempt(number: number, reliefAt: now + time))
  }

  mutating func end(_ number: Int) { running.removeAll { $0.number == number } }

  /// Decides about an attempt again at that instant.
  mutating func putOff(_ number: Int, until instant: ResolverInstant) {
    for index in running.indices where running[index].number == number { running[index].reliefAt = instant }
  }

  /// The instant of the next decision; nil if none is to come.
  var nextInstant: ResolverInstant? {
    ([hedgeAt] + running.map(\.reliefAt)).compactMap(\.self).min()
  }

  /// A decision whose instant has come; each is taken once.
  mutating func due(at now: ResolverInstant) -> Decision? {
    if let instant = hedgeAt, instant <= now {
      hedgeAt = nil
      return .hedge
    }
    for index in running.indices {
      guard let instant = running[index].reliefAt, instant <= now else { continue }
      running[index].reliefAt = nil
      return .relief(of: running[index].number)
    }
    return nil
  }
}
