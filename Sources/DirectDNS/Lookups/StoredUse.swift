// SPDX-License-Identifier: Apache-2.0
/// What a stored answer is good for: a pure function of where it and the cache's own stand in their lives.
enum StoredUse: Sendable, Hashable {
  /// It answers the question.
  case answer
  /// It is not fresh, and better than the nothing that the cache has: those who wait may want it at once.
  case makeshift
  /// It is not fresh, and younger than the cache's own: kept while the providers are asked.
  case newer
  case nothing

  /// - Parameters:
  ///   - phase: where the stored answer stands.
  ///   - askedAt: when it was asked for.
  ///   - isNegative: whether it is a negative one, which serves while it is fresh and never afterwards.
  ///   - known: the life of the cache's own, if it has one.
  init(phase: CachePhase, askedAt: Int64, isNegative: Bool, known: CacheLife?) {
    guard phase != .gone, askedAt > known?.askedAt ?? .min else {
      self = .nothing
      return
    }
    if phase == .fresh {
      self = .answer
    } else if isNegative {
      self = .nothing
    } else {
      self = known == nil ? .makeshift : .newer
    }
  }
}
