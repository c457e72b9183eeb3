// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import Synchronization

/// The names of `dnsctl warmup`: arguments, files, standard input.
struct HostLists {
  let sources: [WarmupSource]
  /// The most names that there may be; nil if standard input or a pipe is one of the lists.
  let expected: Int?

  /// Reads the files; standard input is read while names are looked up.
  ///
  /// - Parameters:
  ///   - files: paths, or ``Pipeline/inputMark`` for standard input.
  ///   - hosts: names, or the same mark.
  ///   - context: where files and standard input come from.
  /// - Throws: if there is no name, or if a file cannot be read.
  init(files: [String], hosts: [String], in context: CommandContext) throws(CommandError) {
    var sources: [WarmupSource] = []
    var expected: Int? = 0
    let marks = (files + hosts).count { $0 == Pipeline.inputMark }
    guard marks <= 1 else { throw CommandError(.usage, "standard input can be read once: give one \"-\".") }
    guard !files.isEmpty || !hosts.isEmpty else {
      throw CommandError(.usage, "there is nothing to warm: name hosts, or a file of them by --hosts.")
    }
    // Pipes are read while names are looked up, after the names that are there already.
    let pipes = files.filter { $0 != Pipeline.inputMark && isPipe($0) }
    for path in files where path != Pipeline.inputMark && !pipes.contains(path) {
      let bytes = try InputFile.read(path, for: "--hosts", by: context.readFile)
      sources.append(.lines(Self.pieces(bytes), name: path.printable))
      expected? += Self.lines(bytes)
    }
    let named = hosts.filter { $0 != Pipeline.inputMark }
    if !named.isEmpty { sources.append(.names(named)) }
    expected? += named.count
    sources += pipes.map(WarmupSource.file)
    if marks + pipes.count > 0 { expected = nil }
    if marks > 0 {
      let input = context.input
      let pieces = AsyncThrowingStream<[UInt8], any Error> {
        do throws(StreamError) {
          let bytes = try await input.read()
          return bytes.isEmpty ? nil : bytes
        } catch {
          throw DirectDNSError(.fileUnusable, "standard input cannot be read: \(error.reason).")
        }
      }
      sources.append(.lines(pieces, name: Pipeline.inputMark))
    }
    self.sources = sources
    self.expected = expected
  }

  /// All names of files at once, for commands that keep looking them up; standard input is read to its end.
  static func names(_ files: [String], in context: CommandContext) async throws(CommandError) -> [String] {
    var items: [Pipeline.Item] = []
    for path in files {
      var lines = LineSplitter(.name)
      if path != Pipeline.inputMark {
        items += lines.feed(try InputFile.read(path, for: "--hosts", by: context.readFile))
      } else {
        do throws(StreamError) {
          while case let part = try await context.input.read(), !part.isEmpty { items += lines.feed(part) }
        } catch {
          throw CommandError(.streams, "standard input cannot be read: \(error.reason).")
        }
      }
      if let last = lines.finish() { items.append(last) }
    }
    return items.map(\.text)
  }

  /// The bytes in pieces, so that names are made only shortly before they are looked up.
  private static func pieces(_ bytes: [UInt8]) -> AsyncStream<[UInt8]> {
    let place = Mutex(0)
    return AsyncStream {
      place.withLock { place -> [UInt8]? in
        guard place < bytes.count else { return nil }
        defer { place += 16_384 }
        return Array(bytes[place..<min(place + 16_384, bytes.count)])
      }
    }
  }

  /// The number of lines that are neither blank nor comments, which is the most names that there may be.
  static func lines(_ bytes: [UInt8]) -> Int {
    var count = 0
    var isBlank = true
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        isBlank = true
      } else if isBlank, byte > UInt8(ascii: " ") {
        isBlank = false
        if byte != UInt8(ascii: "#") { count += 1 }
      }
    }
    return count
  }
}
