// SPDX-License-Identifier: Apache-2.0
/// In which order a pipeline reads, works and hands on; a value that is told what has come and ended, and says what is
/// next.
struct PipelineOrder<Outcome> {
  /// What is to be done next.
  enum Step {
    /// Read on from standard input, and tell of it by ``read(_:)``.
    case read
    /// Work on an item, and tell of its end by ``ended(_:_:)`` with the number.
    case work(Int, Pipeline.Item)
    /// Wait for the end of what was begun.
    case wait
    /// Everything was handed on.
    case end
  }

  private var sources: ArraySlice<String>
  /// How many arguments come before those.
  private var taken = 0
  private var lines: LineSplitter
  /// Items that were not begun yet.
  private var waiting: ArraySlice<Pipeline.Item> = []
  private var isReading = false
  private var started = 0
  private var handedOn = 0
  private var running = 0
  /// Outcomes that came before those of earlier items.
  private var held: [Int: Outcome] = [:]

  /// Nothing was begun yet.
  ///
  /// - Parameters:
  ///   - arguments: what to work on, and ``Pipeline/inputMark`` where the lines of standard input belong.
  ///   - lines: what counts as a line.
  init(_ arguments: [String], _ lines: LineSplitter) {
    sources = arguments[...]
    self.lines = lines
  }

  /// The next step, which counts as begun.
  mutating func next() -> Step {
    while waiting.isEmpty, !isReading, let source = sources.first {
      guard source != Pipeline.inputMark else {
        isReading = true
        return .read
      }
      waiting.append(.argument(source, number: taken))
      takeSource()
    }
    if running < Pipeline.width, started - handedOn < Pipeline.window, let item = waiting.popFirst() {
      defer { started += 1 }
      running += 1
      return .work(started, item)
    }
    return running > 0 || isReading ? .wait : .end
  }

  /// Bytes of standard input have come; none at its end.
  mutating func read(_ bytes: [UInt8]) {
    isReading = false
    guard bytes.isEmpty else { return waiting += lines.feed(bytes) }
    takeSource()
    if let line = lines.finish() { waiting.append(line) }
  }

  /// Standard input cannot be read any more: what was begun is handed on, and nothing else begins.
  ///
  /// A line whose end has not come may be a part of one.
  mutating func readFailed() {
    isReading = false
    sources = []
  }

  private mutating func takeSource() {
    sources.removeFirst()
    taken += 1
  }

  /// The work on an item has ended.
  ///
  /// - Parameters:
  ///   - number: the item's number.
  ///   - outcome: what came out.
  /// - Returns: what may be handed on now, in order; empty as long as an earlier item is under way.
  mutating func ended(_ number: Int, _ outcome: Outcome) -> [Outcome] {
    running -= 1
    held[number] = outcome
    var ready: [Outcome] = []
    while let next = held.removeValue(forKey: handedOn) {
      ready.append(next)
      handedOn += 1
    }
    return ready
  }
}
