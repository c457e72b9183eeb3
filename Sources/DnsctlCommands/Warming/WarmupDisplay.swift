// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import Synchronization

/// Shows the progress of a warm-up on standard error: on a terminal a bar that is drawn in place, otherwise a line now
/// and then.
final class WarmupDisplay: Sendable {
  private struct State {
    var bar: WarmupBar
    var isDrawn = false
  }

  private let job: WarmupJob
  private let context: CommandContext
  private let state: Mutex<State>

  /// The time between two lines without a terminal.
  static let pause = Duration.seconds(10)

  init(_ job: WarmupJob, expecting expected: Int?, _ context: CommandContext) {
    self.job = job
    self.context = context
    state = Mutex(State(bar: WarmupBar(expecting: expected, now: context.clock.now)))
  }

  /// Shows the progress repeatedly, until the task is cancelled.
  func run() async {
    let interval = context.drawsProgress ? Duration.milliseconds(250) : .seconds(1)
    var next = context.clock.now + Self.pause
    while (try? await context.clock.sleep(until: context.clock.now + interval)) != nil {
      let now = context.clock.now
      let report = job.report
      if context.drawsProgress {
        draw(report, now)
      } else {
        state.withLock { $0.bar.note(report, now: now) }
        guard now >= next else { continue }
        next = now + Self.pause
        context.reportError(state.withLock { $0.bar.figures(report, now: now) })
      }
    }
  }

  /// Writes a message; the bar is drawn again below it.
  func say(_ message: String) {
    state.withLock { state in
      clear(&state)
      context.reportError(message)
    }
  }

  /// Removes the bar.
  func end() { state.withLock { clear(&$0) } }

  private func draw(_ report: WarmupReport, _ now: ResolverInstant) {
    let width = context.terminalSize().columns - 1
    state.withLock { state in
      state.bar.note(report, now: now)
      state.isDrawn = true
      // Errors are ignored: standard error may be closed on purpose.
      try? context.errors.write("\r\u{1b}[K" + state.bar.line(report, now: now, width: width))
    }
  }

  private func clear(_ state: inout State) {
    guard state.isDrawn else { return }
    state.isDrawn = false
    try? context.errors.write("\r\u{1b}[K")
  }
}
