// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSLoop

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// How much address space this process may have, whether memory stands behind it or not (`ulimit -v`; getrlimit(2)).
///
/// Threads take most of it: each has a stack, of 8 MiB nearly everywhere, and glibc sets 64 MiB aside for an arena of
/// malloc(3) of its own. Where nothing is left for the next stack libdispatch tries again each second, and what wanted
/// the thread waits with it, the end of a lookup's time too.
enum AddressSpaceLimit {
  /// The limit in bytes; nil where there is none.
  ///
  /// Not inlined, for what Swift makes of getrlimit(2) in an asynchronous function (``FileLimit/raise()``).
  @inline(never) static var bytes: UInt64? {
    #if canImport(Glibc)
      let addressSpace = __rlimit_resource_t(RLIMIT_AS.rawValue)
    #else
      let addressSpace = RLIMIT_AS
    #endif
    var limit = rlimit()
    guard unsafe getrlimit(addressSpace, &limit) == 0 else { return nil }
    let bytes = UInt64(limit.rlim_cur)
    // What the systems have for none, RLIM_INFINITY, is this or more.
    return bytes < UInt64(Int64.max) ? bytes : nil
  }

  /// How many arenas take an eighth of a limit at most: one in any case, and no more than the eight that glibc has for
  /// each processor.
  static func arenas(under bytes: UInt64) -> Int32 { Int32(min(8, max(1, bytes / (512 << 20)))) }

  /// What a stack may take: as much as glibc gives where `ulimit -s` knows no limit (pthread_create(3)), and four times
  /// what Darwin gives libdispatch's threads.
  private static let stack = 2 << 20

  /// Has threads take so little under a limit that there is room for them; to be called before there are any.
  static func makeRoomForThreads() {
    guard let bytes else { return }
    directdns_threads_share_arenas(arenas(under: bytes))
    directdns_threads_limit_stacks(stack)
  }
}
