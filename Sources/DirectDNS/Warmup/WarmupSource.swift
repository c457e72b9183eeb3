// SPDX-License-Identifier: Apache-2.0
/// Where the names of a warm-up come from.
///
/// Names may have upper case, a final dot and international labels. An entry that is not a name is reported with its
/// place, and the warm-up goes on.
public struct WarmupSource: Sendable {
  /// An entry: the text, or why there is none.
  struct Entry: Sendable {
    enum Content: Sendable, Hashable {
      case host(String)
      /// Why it cannot be read.
      case unreadable(String)
    }

    var content: Content
    var place: WarmupPlace?
  }

  /// Passes on all entries in batches, until there are no more or `handOn` returns false.
  typealias Reader =
    @Sendable (_ handOn: @Sendable ([Entry]) async -> Bool) async throws(DirectDNSError) -> Void

  let read: Reader

  private init(_ read: @escaping Reader) { self.read = read }

  /// How many entries are passed on at a time.
  private static let batch = 256

  /// The names of a list.
  public static func names(_ names: [String]) -> WarmupSource {
    WarmupSource { handOn throws(DirectDNSError) in
      for start in stride(from: 0, to: names.count, by: batch) {
        let entries = names[start..<min(start + batch, names.count)].map { Entry(content: .host($0), place: nil) }
        guard await handOn(entries) else { return }
      }
    }
  }

  /// The names of a file: one a line, with `#` comments, blank lines and either kind of line end.
  ///
  /// The file is read when the warm-up runs; if it cannot be read, the warm-up fails with
  /// ``DirectDNSError/Code/fileUnusable``.
  public static func file(_ path: String) -> WarmupSource {
    WarmupSource { handOn throws(DirectDNSError) in
      var reader = LineReader()
      do {
        // Of its own, since nobody may ever write to a FIFO: other lists must not wait for its thread.
        let thread = BlockingPool("names", width: 1, idleLimit: .milliseconds(100))
        func waiting<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
          try await thread.run { Result(catching: body) }.get()
        }
        let file = try await waiting { try CancellableFile(path) }
        while true {
          let bytes = try await withTaskCancellationHandler {
            try await waiting { try file.read(16_384) }
          } onCancel: {
            file.cancel()
          }
          if bytes.isEmpty { break }
          guard await handOn(entries(reader.feed(bytes), path)) else { return }
        }
      } catch {
        throw DirectDNSError(
          .fileUnusable, "The list of names \(path) cannot be read. Check that it is there and may be read.",
          underlying: error)
      }
      if let line = reader.finish() { _ = await handOn(entries([line], path)) }
    }
  }

  /// The names of a text that comes in pieces, such as standard input, in the format of a file.
  ///
  /// - Parameters:
  ///   - bytes: the text's bytes, cut anywhere.
  ///   - name: the name that reports show in place of a file's.
  /// - Returns: the source; if the sequence throws, the warm-up fails with that error if it is a ``DirectDNSError``,
  ///   and otherwise with ``DirectDNSError/Code/fileUnusable``.
  public static func lines<Bytes: AsyncSequence & Sendable>(_ bytes: Bytes, name: String) -> WarmupSource
  where Bytes.Element == [UInt8] {
    WarmupSource { handOn throws(DirectDNSError) in
      var reader = LineReader()
      do {
        for try await piece in bytes {
          guard await handOn(entries(reader.feed(piece), name)) else { return }
        }
      } catch {
        throw unreadable(name, error)
      }
      if let line = reader.finish() { _ = await handOn(entries([line], name)) }
    }
  }

  /// The names of a sequence, which is read only as far as its names can soon be looked up.
  ///
  /// - Parameters:
  ///   - names: the names.
  ///   - name: the name that reports show in place of a file's.
  /// - Returns: the source; if the sequence throws, the warm-up fails with that error if it is a ``DirectDNSError``,
  ///   and otherwise with ``DirectDNSError/Code/fileUnusable``.
  public static func sequence<Names: AsyncSequence & Sendable>(_ names: Names, name: String = "sequence")
    -> WarmupSource where Names.Element == String
  {
    WarmupSource { handOn throws(DirectDNSError) in
      var number = 0
      do {
        for try await text in names {
          number += 1
          let entry = Entry(content: .host(text), place: WarmupPlace(source: name, line: number))
          guard await handOn([entry]) else { return }
        }
      } catch {
        throw unreadable(name, error)
      }
    }
  }

  private static func entries(_ lines: [LineReader.Line], _ source: String) -> [Entry] {
    lines.map { line in
      Entry(
        content: line.fault.map { .unreadable($0) } ?? .host(line.text),
        place: WarmupPlace(source: source, line: line.number))
    }
  }

  private static func unreadable(_ name: String, _ error: any Error) -> DirectDNSError {
    if let error = error as? DirectDNSError { return error }
    return DirectDNSError(.fileUnusable, "The names of \(name) cannot be read to their end.", underlying: error)
  }
}

/// Where an entry is: `FILE:LINE`.
public struct WarmupPlace: Sendable, Hashable, Codable, CustomStringConvertible {
  /// The file's name, or the name of another source.
  public var source: String
  /// The number of the line, or of a sequence's element; the first is 1.
  public var line: Int

  /// Creates a place.
  public init(source: String, line: Int) {
    self.source = source
    self.line = line
  }

  /// `FILE:LINE`.
  public var description: String { "\(source):\(line)" }
}
