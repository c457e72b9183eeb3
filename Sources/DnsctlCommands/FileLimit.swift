// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// How many files, connections among them, this process may have open (getrlimit(2)).
///
/// The soft limit is 1 024 nearly everywhere for the sake of programs that use select(2); other programs should raise
/// it to the hard one (systemd.exec(5), LimitNOFILE=). Child processes inherit the raised limit.
package enum FileLimit {
  /// Raises the soft limit to the hard one, as far as possible.
  ///
  /// Not inlined: otherwise Swift 6.3.1 (`-O`, Linux) drops everything after the call in an asynchronous function.
  @inline(never) package static func raise() {
    #if canImport(Glibc)
      let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let files = RLIMIT_NOFILE
    #endif
    var limit = rlimit()
    guard unsafe getrlimit(files, &limit) == 0 else { return }
    #if canImport(Darwin)
      // It takes no more, whatever the hard limit is (setrlimit(2)).
      let most = min(limit.rlim_max, rlim_t(OPEN_MAX))
    #else
      let most = limit.rlim_max
    #endif
    guard limit.rlim_cur < most else { return }
    limit.rlim_cur = most
    _ = unsafe setrlimit(files, &limit)
  }
}
