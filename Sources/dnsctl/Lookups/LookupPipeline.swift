internal import DirectDNS

/// Many names at once: read as they come, looked up side by side, handed on in the order of reading.
struct LookupPipeline: Sendable {
  /// Lookups under way at a time.
  static let width = 64
  /// Names read and not yet handed on: a slow name holds back those behind it, and reading stops when they are many.
  static let window = 1024
  /// Stands for standard input among the names.
  static let inputMark = "-"

  let input: any InputSource
  let lookUp: @Sendable (String) async -> LookupOutcome

  private enum Event: Sendable {
    case read(Result<[UInt8], StreamError>)
    case ended(Int, LookupOutcome)
  }

  /// Looks the names up, and hands on what came of them.
  ///
  /// Its tasks are not a group's: when handing on fails, this ends at once, although a read of standard input may
  /// wait for as long as a person at the keyboard does.
  ///
  /// - Parameters:
  ///   - hosts: names, and ``inputMark`` where those of standard input belong.
  ///   - handOn: is called with one or more outcomes, in order.
  /// - Throws: what `handOn` throws, or that the input cannot be read.
  func run(
    _ hosts: [String], handOn: ([LookupOutcome]) throws(StreamError) -> Void
  ) async throws(PipelineError) {
    let (events, feed) = AsyncStream.makeStream(of: Event.self)
    var iterator = events.makeAsyncIterator()
    var sources = hosts[...]
    var waiting: ArraySlice<String> = []
    var lines = LineSplitter()
    var isReading = false
    var started = 0
    var handedOn = 0
    var running = 0
    var held: [Int: LookupOutcome] = [:]

    while true {
      while waiting.isEmpty, let source = sources.first, !isReading {
        if source == Self.inputMark {
          isReading = true
          Task { [input] in
            do throws(StreamError) { feed.yield(.read(.success(try await input.read()))) } catch {
              feed.yield(.read(.failure(error)))
            }
          }
        } else {
          waiting.append(source)
          sources.removeFirst()
        }
      }
      if running < Self.width, started - handedOn < Self.window, let host = waiting.popFirst() {
        let index = started
        started += 1
        running += 1
        Task { [lookUp] in feed.yield(.ended(index, await lookUp(host))) }
        continue
      }
      guard running > 0 || isReading, let event = await iterator.next() else { return }
      switch event {
      case .read(.failure(let error)): throw .input(error)
      case .read(.success(let bytes)):
        isReading = false
        if bytes.isEmpty {
          sources.removeFirst()
          waiting += [lines.finish()].compactMap(\.self)
        } else {
          waiting += lines.feed(bytes)
        }
      case .ended(let index, let outcome):
        running -= 1
        held[index] = outcome
        var ready: [LookupOutcome] = []
        while let next = held.removeValue(forKey: handedOn) {
          ready.append(next)
          handedOn += 1
        }
        guard !ready.isEmpty else { continue }
        do throws(StreamError) { try handOn(ready) } catch { throw .output(error) }
      }
    }
  }
}

/// Which end of the pipeline failed.
enum PipelineError: Error, Sendable, Hashable {
  case input(StreamError)
  case output(StreamError)
}
