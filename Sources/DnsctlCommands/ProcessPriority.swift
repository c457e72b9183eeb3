// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The priority that the process was started with (nice).
package enum ProcessPriority {
  /// Sets it for this thread, from which a child process that is started next inherits it.
  ///
  /// Pool threads have priorities of their own on Linux, which root may raise. The first thread keeps the process's.
  package static func take() {
    let ofProcess: Int32 = 0  // PRIO_PROCESS, which has another type with each C library
    _ = setpriority(ofProcess, 0, getpriority(ofProcess, id_t(getpid())))
  }
}
