// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Whether the system gives this process what it cannot even report an error without.
///
/// Where no thread can be made libdispatch tries again for ever, and SwiftNIO ends the process by a trap; so does
/// libdispatch where it gets no descriptors for its own four.
package enum StartLimits {
  /// What every command gets by with on a machine of two cores; looking for them takes 0.3 ms.
  static let threads = 8
  private static let descriptors = 4

  /// Looks whether something is missing.
  ///
  /// - Parameter threads: how many threads the process is going to have.
  /// - Returns: what is missing, and what to do; nil if everything is there.
  package static func shortage(threads: Int) -> String? {
    if !hasDescriptors(descriptors) {
      return "this process may open too few files to start: raise their limit (ulimit -n)."
    }
    if !hasThreads(threads) {
      return
        "this process gets too few threads to start: raise the limit of processes (ulimit -u) or the container's pids limit, or end other processes of this user."
    }
    // One more than those, for what they allocate.
    if AddressSpaceLimit.bytes != nil, !hasThreads(threads + 1, withStacks: true) {
      return "this process gets too little address space for its threads to start: raise its limit (ulimit -v)."
    }
    return nil
  }

  /// Whether so many descriptors are free.
  private static func hasDescriptors(_ count: Int) -> Bool {
    let opened = (0..<count).map { _ in unsafe open("/dev/null", O_RDONLY | O_CLOEXEC) }
    // A system without /dev/null is another matter.
    let isShort = opened.contains(-1) && (errno == EMFILE || errno == ENFILE)
    for descriptor in opened where descriptor >= 0 { close(descriptor) }
    return !isShort
  }

  private static let end = DispatchSemaphore(value: 0)

  /// Whether there can be so many threads at a time besides this one.
  ///
  /// - Parameters:
  ///   - count: how many.
  ///   - withStacks: whether each has a stack like those that follow, which take these over: glibc keeps 40 MB of them.
  /// - Returns: false where the system has too little for them.
  private static func hasThreads(_ count: Int, withStacks: Bool = false) -> Bool {
    // Without its initialiser: whose type Swift takes it for depends on what else is imported, too.
    let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
    unsafe pthread_attr_init(attributes)
    defer {
      unsafe pthread_attr_destroy(attributes)
      unsafe attributes.deallocate()
    }
    if !withStacks {
      // They do nothing: a guard page would cost each a system call.
      unsafe pthread_attr_setstacksize(attributes, 128 << 10)
      unsafe pthread_attr_setguardsize(attributes, 0)
    }
    _ = end
    var threads: [pthread_t] = []
    var code: Int32 = 0
    while threads.count < count, code == 0 {
      #if canImport(Glibc)
        var thread = pthread_t()
      #else
        var thread: pthread_t?
      #endif
      code = unsafe pthread_create(
        &thread, attributes,
        { _ in
          StartLimits.end.wait()
          return nil
        }, nil)
      #if canImport(Glibc)
        if code == 0 { threads.append(thread) }
      #else
        if code == 0, let thread { threads.append(thread) }
      #endif
    }
    for _ in threads { end.signal() }
    // Ended before others take their places.
    for thread in threads { pthread_join(thread, nil) }
    return code != EAGAIN
  }
}
