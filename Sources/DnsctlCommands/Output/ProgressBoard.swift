// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import Synchronization

/// Draws the progress of all transfers on a terminal, a line each, in place.
final class ProgressBoard: Sendable {
  /// Identifies a transfer.
  typealias ID = Int

  private struct State {
    var bars: [(id: ID, bar: ProgressBar)] = []
    /// The number of lines on the terminal, to be drawn over.
    var drawn = 0
  }

  private let sink: any OutputSink
  private let clock: any ResolverClock
  private let size: @Sendable () -> TerminalSize
  private let state = Mutex(State())

  init(_ context: CommandContext) {
    sink = context.errors
    clock = context.clock
    size = context.terminalSize
  }

  func add(_ id: ID, label: String) {
    let now = clock.now
    state.withLock { $0.bars.append((id, ProgressBar(label: label, now: now))) }
  }

  func update(_ id: ID, _ change: (inout ProgressBar, ResolverInstant) -> Void) {
    let now = clock.now
    state.withLock { state in
      guard let index = state.bars.firstIndex(where: { $0.id == id }) else { return }
      change(&state.bars[index].bar, now)
    }
  }

  /// A transfer has ended: its line, or what went wrong, stays above the bars of the others.
  func end(_ id: ID, saying message: String? = nil) {
    let (now, width) = (clock.now, size().columns - 1)
    state.withLock { state in
      guard let index = state.bars.firstIndex(where: { $0.id == id }) else { return }
      let bar = state.bars.remove(at: index).bar
      draw(&state, above: message?.printableLines ?? (bar.line(now: now, width: width, isDone: true) + "\n"))
    }
  }

  /// Writes something above the bars.
  func say(_ message: String) { state.withLock { draw(&$0, above: message.printableLines) } }

  /// Draws all lines anew.
  func draw() { state.withLock { draw(&$0, above: "") } }

  /// Draws four times a second, until it is cancelled.
  func run() async {
    while !Task.isCancelled {
      guard (try? await clock.sleep(until: clock.now + .milliseconds(250))) != nil else { return }
      draw()
    }
  }

  private func draw(_ state: inout State, above message: String) {
    let (now, size) = (clock.now, size())
    // Lines beyond the window's height could not be drawn over.
    let shown = state.bars.prefix(max(1, size.rows - 2))
    var lines = shown.map { $0.bar.line(now: now, width: size.columns - 1) }
    if shown.count < state.bars.count { lines.append("and \(state.bars.count - shown.count) more") }
    let back = state.drawn > 0 ? "\u{1b}[\(state.drawn)A" : ""
    let text = back + "\r\u{1b}[J" + message + lines.map { "\($0)\n" }.joined()
    guard state.drawn > 0 || !lines.isEmpty || !message.isEmpty else { return }
    state.drawn = lines.count
    // Errors are ignored: standard error may be closed on purpose.
    try? sink.write(text)
  }
}

/// A terminal's window.
package struct TerminalSize: Sendable, Hashable {
  var columns = 80
  var rows = 24
}
