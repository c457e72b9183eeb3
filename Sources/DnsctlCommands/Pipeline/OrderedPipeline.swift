// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Reads items as they come, works on many at once, and hands the results on in the order of reading.
struct OrderedPipeline<Outcome: Sendable>: Sendable {
  /// Standard input.
  let input: any InputSource
  /// What counts as a line of it.
  var lines = LineSplitter()
  /// What is done with a line or an argument.
  let work: @Sendable (Pipeline.Item) async -> Outcome

  private enum Event: Sendable {
    case read(Result<[UInt8], StreamError>)
    case ended(Int, Outcome)
  }

  /// Does the work, and hands on the results.
  ///
  /// Its tasks are unstructured, so that this can end at once when handing on fails, although a read of standard input
  /// may block for any time.
  ///
  /// - Parameters:
  ///   - arguments: what to work on, and ``Pipeline/inputMark`` where the lines of standard input belong.
  ///   - handOn: called with one or more results, in order.
  /// - Throws: what `handOn` throws, or if the input cannot be read, once what came before was handed on.
  func run(
    _ arguments: [String], handOn: ([Outcome]) throws(StreamError) -> Void
  ) async throws(CommandError) {
    let (events, feed) = AsyncStream.makeStream(of: Event.self)
    var iterator = events.makeAsyncIterator()
    var order = PipelineOrder<Outcome>(arguments, lines)
    var failure: StreamError?
    while true {
      switch order.next() {
      case .read:
        Task { [input] in
          do throws(StreamError) { feed.yield(.read(.success(try await input.read()))) } catch {
            feed.yield(.read(.failure(error)))
          }
        }
      case .work(let number, let item):
        Task { [work] in feed.yield(.ended(number, await work(item))) }
      case .wait:
        switch await iterator.next() {
        case .read(.success(let bytes))?: order.read(bytes)
        case .read(.failure(let error))?:
          failure = error
          order.readFailed()
        case .ended(let number, let outcome)?:
          let ready = order.ended(number, outcome)
          guard !ready.isEmpty else { continue }
          do throws(StreamError) { try handOn(ready) } catch { throw CommandError(error) }
        case nil: return
        }
      case .end:
        if let failure { throw CommandError(.streams, "standard input cannot be read: \(failure.reason).") }
        return
      }
    }
  }

  /// Does the work, and writes the results.
  ///
  /// - Parameters:
  ///   - arguments: what to work on, and ``Pipeline/inputMark`` where the lines of standard input belong.
  ///   - context: where results are written.
  ///   - render: returns the output for a result, and its exit status.
  /// - Returns: the highest status.
  func run(
    _ arguments: [String], in context: CommandContext,
    render: @escaping (Outcome) -> (RenderedOutcome, ExitStatus)
  ) async -> ExitStatus {
    var writer = OutcomeWriter(context, render: render)
    do throws(CommandError) {
      try await run(arguments) { outcomes throws(StreamError) in try writer.write(outcomes) }
    } catch {
      return error.status(in: context)
    }
    return writer.status
  }
}

/// What all pipelines have in common.
enum Pipeline {
  /// The most items that are worked on at a time.
  static let width = 64
  /// The most items that were begun and are not handed on yet: a slow one holds back those after it, and reading stops
  /// at this number.
  static let window = 1024
  /// Stands for standard input among the arguments.
  static let inputMark = "-"

  /// An item of work.
  enum Item: Sendable, Hashable {
    /// Of the command line, and its number among the arguments, from 0.
    case argument(String, number: Int)
    /// Of standard input, and its number among the lines, from 1.
    case line(String, number: Int)
    /// Of standard input, where it cannot be read: the reason.
    case unreadable(String, number: Int)

    /// What is to be worked on.
    var text: String {
      switch self {
      case .argument(let text, _), .line(let text, _): text
      case .unreadable: ""
      }
    }
  }
}

extension Array where Element: Sendable {
  /// What a closure makes of each element, all of them at a time; in the order of the elements.
  func mapAtOnce<Value: Sendable>(_ make: @escaping @Sendable (Element) async -> Value) async -> [Value] {
    await withTaskGroup(of: (Int, Value).self) { group in
      for (index, element) in enumerated() { group.addTask { (index, await make(element)) } }
      var all: [(Int, Value)] = []
      for await one in group { all.append(one) }
      return all.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }
}
