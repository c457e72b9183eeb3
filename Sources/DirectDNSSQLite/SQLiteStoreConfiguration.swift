// SPDX-License-Identifier: Apache-2.0
/// Where an ``SQLiteAnswerStore`` keeps its file, and how large it may grow.
public struct SQLiteStoreConfiguration: Sendable, Hashable {
  /// The file's path; missing folders are created.
  ///
  /// `:memory:` is refused: use ``/DirectDNS/MemoryAnswerStore``. So is a path that begins with `file:`, which SQLite
  /// may read as a URI; write `./file:…` for a file of that name.
  public var path: String
  /// The most bytes that answers take in the file; when it is full, the answers that are gone first are evicted.
  ///
  /// Default 64 MiB, some 300 000 answers. The log beside the file takes some 8 MiB more; when all answers are removed,
  /// it may become as large as the file until the next write. A file that is far larger, because the limit was higher
  /// before, shrinks by at most 8192 answers with each write. With a limit below the size of an empty file no answer is
  /// kept.
  public var maximumBytes: Int
  /// How long a write waits while another process writes.
  ///
  /// Default 1 s; less than 1 ms counts as 1 ms. Reading does not wait.
  public var busyTimeout: Duration

  /// Creates a configuration.
  public init(path: String, maximumBytes: Int = 64 << 20, busyTimeout: Duration = .seconds(1)) {
    self.path = path
    self.maximumBytes = maximumBytes
    self.busyTimeout = busyTimeout
  }
}
