// SPDX-License-Identifier: Apache-2.0
#if os(Linux)
  import Foundation
  import Glibc

  /// Tells when a file in a folder was written to (inotify(7)), from its making on.
  final class FolderWatch: Sendable {
    private let descriptor: Int32

    init(_ path: String) throws {
      descriptor = inotify_init1(Int32(IN_CLOEXEC))
      guard descriptor >= 0, unsafe inotify_add_watch(descriptor, path, UInt32(IN_MODIFY)) >= 0 else {
        throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
      }
    }

    deinit { close(descriptor) }

    /// Waits until the file of that name was written to.
    func waitForWrite(to name: String) async {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread { [self] in
          while !next().contains(name) {}
          continuation.resume()
        }
      }
    }

    /// The names of the next files that were written to; waits for one.
    private func next() -> [String] {
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = unsafe read(descriptor, &bytes, bytes.count)
      var names: [String] = []
      var start = 0
      while start + MemoryLayout<inotify_event>.size <= count {
        let nameStart = start + MemoryLayout<inotify_event>.size
        let length = unsafe bytes.withUnsafeBytes { unsafe Int($0.load(fromByteOffset: start + 12, as: UInt32.self)) }
        names.append(String(decoding: bytes[nameStart..<(nameStart + length)].prefix { $0 != 0 }, as: UTF8.self))
        start = nameStart + length
      }
      return names
    }
  }
#endif
