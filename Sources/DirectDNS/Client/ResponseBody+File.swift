// SPDX-License-Identifier: Apache-2.0
extension ResponseBody {
  /// Reads the rest of the body into a file, piece by piece; the file is whole, or is not there.
  ///
  /// Until all has come it is a draft beside that file, which then takes its place and survives a power failure. A file
  /// that was there before stays until then, and its group and permissions stay. The draft of a body that fails or is
  /// too long is removed; a process that is killed leaves it, as `NAME.NUMBER.part`.
  ///
  /// ```swift
  /// let response = try await client.get("https://www.example.com/report")
  /// if response.status == .ok { try await response.body.write(toFile: "report.pdf", upTo: 100 << 20) }
  /// ```
  ///
  /// - Parameters:
  ///   - path: the file. What is there is replaced if it is a regular file of this process's user, who may write it,
  ///     has no other name, and is not mounted by itself, as into a container; all else is refused, such as a device,
  ///     a FIFO or a symbolic link.
  ///   - limit: the most bytes to read.
  /// - Returns: the number of bytes.
  /// - Throws: `bodyTooLarge` if there are more, which ends the transfer; `fileUnusable` if the file cannot be written,
  ///   which leaves the body unread when no draft could be made; or why the rest does not come.
  @discardableResult
  nonisolated(nonsending) public func write(toFile path: String, upTo limit: Int) async throws(DirectDNSError) -> Int {
    let file = try await ReceivedFile(path)
    do throws(DirectDNSError) {
      var count = 0
      var pieces = makeAsyncIterator()
      while let piece = try await pieces.next() {
        guard piece.count <= limit - count else { throw tooLarge(limit) }
        count += piece.count
        try await file.write(piece)
      }
      try await file.finish()
      return count
    } catch {
      // Where there is another reader, the transfer is that one's.
      if error.code != .invalidRequest { cancel() }
      await file.discard()
      throw error
    }
  }
}

/// A file that is received: a draft beside it, on threads that may block.
private struct ReceivedFile: Sendable {
  private let path: String
  private let draft: Locked<WritableFile>

  nonisolated(nonsending) init(_ path: String) async throws(DirectDNSError) {
    self.path = path
    draft = try await Self.run(path) { () throws(FileFailure) in
      // A draft could be made beside it, in the working folder.
      guard !path.isEmpty else { throw FileFailure("its path is empty") }
      let name = WritableFile.draftPath(of: path, ending: ".\(UInt64.random(in: 0 ... .max)).part")
      switch try PathTarget(path) {
      case .missing: return Locked(try .new(name, mode: WritableFile.ordinaryMode))
      case .file(let rights, hasOtherNames: false) where rights.isOurs:
        // A file that its owner has protected is not replaced.
        try WritableFile.check(path)
        return Locked(try .draft(name, inPlaceOf: rights))
      case .file, .inPlace:
        throw FileFailure("it is no regular file, or another user's, has a second name, or is mounted by itself")
      }
    }
  }

  nonisolated(nonsending) func write(_ piece: [UInt8]) async throws(DirectDNSError) {
    try await Self.run(path) { () throws(FileFailure) in
      try draft.withLock { file throws(FileFailure) in try file.write(piece) }
    }
  }

  /// Puts it in its place.
  nonisolated(nonsending) func finish() async throws(DirectDNSError) {
    try await Self.run(path) { () throws(FileFailure) in
      try draft.withLock { file throws(FileFailure) in try file.end(inPlaceOf: path) }
    }
  }

  nonisolated(nonsending) func discard() async { await BlockingPool.files.run { draft.withLock { $0.remove() } } }

  nonisolated(nonsending) private static func run<Value: Sendable>(
    _ path: String, _ body: @escaping @Sendable () throws(FileFailure) -> Value
  ) async throws(DirectDNSError) -> Value {
    do throws(FileFailure) {
      return try await BlockingPool.files.run { Result(catching: body) }.get()
    } catch {
      throw DirectDNSError(
        .fileUnusable, "The file \(path) cannot be written: \(error.reason). Check its path, or take another one.",
        underlying: error
      ).reachingServer
    }
  }
}
