// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import Synchronization

/// Shows snapshots: on a terminal drawn in place, otherwise one after the other.
final class WatchDisplay: Sendable {
  /// Whether they are drawn in place.
  let isLive: Bool
  private let isJSON: Bool
  private let context: CommandContext
  private let screen: WatchScreen
  /// What is shown below the table.
  private let footer = Mutex(WatchFooter())
  /// Whether the terminal shows the alternate screen.
  ///
  /// Locked while the terminal is written to, so that nothing is drawn after it was restored.
  private let isTaken = Mutex(false)
  /// The width if standard output is no terminal.
  private static let plainWidth = 160

  init(_ context: CommandContext, isJSON: Bool) {
    isLive = context.isOutputTerminal && !isJSON && !context.isTerminalDumb
    self.isJSON = isJSON
    self.context = context
    screen = WatchScreen(style: context.style)
  }

  /// Whether keys are read.
  var takesKeys: Bool { isLive && context.isInputTerminal }

  /// Switches to the terminal's alternate screen, so that its contents can be restored.
  func begin() {
    if isLive { isTaken.withLock { takeScreen(&$0) } }
  }

  private func takeScreen(_ isTaken: inout Bool) {
    isTaken = true
    if takesKeys { context.takeKeys(true) }
    try? context.output.write("\u{1b}[?1049h\u{1b}[?25l")
  }

  private func giveScreen(_ isTaken: inout Bool, _ last: String = "") {
    guard isTaken else { return }
    isTaken = false
    try? context.output.write("\u{1b}[?25h\u{1b}[?1049l" + last)
    if takesKeys { context.takeKeys(false) }
  }

  /// Restores the terminal while the process is stopped, or before it ends.
  func around(_ stop: () -> Void) {
    isTaken.withLock { isTaken in
      let wasTaken = isTaken
      giveScreen(&isTaken)
      stop()
      if wasTaken { takeScreen(&isTaken) }
    }
  }

  func show(_ snapshot: WatchSnapshot) throws(StreamError) {
    if isJSON {
      try context.output.write(JSONLine(snapshot).text)
    } else if isLive {
      var footer = footer.withLock(\.self)
      footer.takesKeys = takesKeys
      let frame = screen.frame(snapshot, context.terminalSize(), footer)
      try isTaken.withLock { isTaken throws(StreamError) in if isTaken { try context.output.write(frame) } }
    } else {
      try context.output.write(screen.text(snapshot, width: Self.plainWidth))
    }
  }

  /// Shows the keys below the table, or hides them.
  func toggleKeys() { footer.withLock { $0.showsKeys.toggle() } }

  /// Shows a message: below the table, or on standard error if none is drawn in place.
  func report(_ message: String) {
    guard isLive else { return context.reportError(message) }
    footer.withLock { $0.message = message }
  }

  /// Restores the terminal, and leaves the last table on it.
  func end(_ snapshot: WatchSnapshot) {
    guard isLive else { return }
    let last = screen.text(snapshot, width: context.terminalSize().columns)
    isTaken.withLock { giveScreen(&$0, last) }
  }
}

/// What is shown below the table on a terminal.
struct WatchFooter: Sendable, Hashable {
  /// The last message.
  var message: String?
  /// Whether keys are read.
  var takesKeys = false
  /// Whether the list of keys is shown.
  var showsKeys = false
}
