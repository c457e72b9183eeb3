// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// How many files this process may have open (`RLIMIT_NOFILE`).
///
/// The limit is the whole process's: either nothing else runs in it, or nothing else may open a file meanwhile.
enum OpenFiles {
  #if canImport(Glibc)
    private static let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #else
    private static let kind = RLIMIT_NOFILE
  #endif

  /// Does something while this process may open no file.
  static func withNone<Result>(_ body: () throws -> Result) rethrows -> Result {
    let before = limit(to: 3)
    defer { limit(to: before) }
    return try body()
  }

  /// Does something that waits while this process may open no file.
  static func withNone<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    let before = limit(to: 3)
    defer { limit(to: before) }
    return try await body()
  }

  /// Sets the limit, which those that are open already may be above.
  ///
  /// - Returns: the one before.
  @discardableResult
  static func limit(to count: rlim_t) -> rlim_t {
    var limit = rlimit()
    let isKnown = unsafe getrlimit(kind, &limit) == 0
    let before = limit.rlim_cur
    limit.rlim_cur = count
    let isSet = unsafe setrlimit(kind, &limit) == 0
    // A process may read its own limit, and set any up to the hard one: that it cannot is a mistake in the test.
    precondition(isKnown && isSet, "the limit of open files cannot be \(count)")
    return before
  }
}
