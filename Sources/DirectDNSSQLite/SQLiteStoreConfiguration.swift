// SPDX-License-Identifier: Apache-2.0
/// Where an ``SQLiteAnswerStore`` keeps its file, and how large it may grow.
public struct SQLiteStoreConfiguration: Sendable, Hashable {
  /// The file's path; missing folders are made.
  ///
  /// `:memory:` is refused: ``/DirectDNS/MemoryAnswerStore`` keeps answers in memory. So is what begins with `file:`,
  /// which SQLite may read as a URI; a file of that name is `./file:…`.
  public var path: String
  /// The most bytes that answers take in the file; those that are gone first go first.
  ///
  /// Default 64 MiB, some 300 000 answers. The log beside the file takes some 8 MiB more. It may become as large as the
  /// file where all are removed, until the next write. A file that another bound let become far larger shrinks by 8192
  /// answers at most with each write. With less than an empty file takes no answer stays.
  public var maximumBytes: Int
  /// How long a call waits for another process that writes.
  ///
  /// Default 1 s; less than 1 ms counts as 1 ms. Reading waits for nobody.
  public var busyTimeout: Duration

  /// Creates a configuration.
  public init(path: String, maximumBytes: Int = 64 << 20, busyTimeout: Duration = .seconds(1)) {
    self.path = path
    self.maximumBytes = maximumBytes
    self.busyTimeout = busyTimeout
  }
}
