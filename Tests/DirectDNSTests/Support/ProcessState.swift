// SPDX-License-Identifier: Apache-2.0
import Foundation

/// What the kernel knows of this process.
enum ProcessState {
  /// How many descriptors are open.
  static var descriptors: Int { count("/proc/self/fd") }
  /// How many threads there are.
  static var threads: Int { count("/proc/self/task") }

  /// The process's memory in bytes; 0 where the system does not tell.
  ///
  /// Under a sanitizer its own count of what is allocated: the pages hold its books of every byte as well, and freed
  /// memory for a while.
  static var memory: Int {
    if let allocatedBytes { return Int(allocatedBytes()) }
    // The pages that are there (proc(5)).
    let status = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let pages = status.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * 4096
  }

  /// `__sanitizer_get_current_allocated_bytes` (sanitizer/allocator_interface.h), where a sanitizer is in the process.
  private static let allocatedBytes: (@convention(c) () -> UInt)? =
    if let symbol = unsafe dlsym(nil, "__sanitizer_get_current_allocated_bytes") {
      unsafe unsafeBitCast(symbol, to: (@convention(c) () -> UInt).self)
    } else {
      nil
    }

  private static func count(_ folder: String) -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? 0
  }

  /// Waits until a condition holds, nearly as long as most tests may take.
  ///
  /// Nobody tells when a thread or a descriptor has gone.
  static func eventually(_ condition: () -> Bool) async -> Bool {
    let deadline = ContinuousClock.now + .seconds(50)
    while !condition() {
      guard ContinuousClock.now < deadline else { return false }
      try? await Task.sleep(for: .milliseconds(2))
    }
    return true
  }
}
