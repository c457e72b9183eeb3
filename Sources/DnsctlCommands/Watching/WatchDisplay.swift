// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import Synchronization

/// Where snapshots are shown: drawn over one another on a terminal, one after the other elsewhere.
final class WatchDisplay: Sendable {
  /// Whether they are drawn over one another.
  let isLive: Bool
  private let isJSON: Bool
  private let context: CommandContext
  private let screen: WatchScreen
  /// What stands below the picture.
  private let footer = Mutex(WatchFooter())
  /// Whether the terminal is taken.
  ///
  /// Whoever writes to it holds this: nothing is drawn on one that was given back.
  private let isTaken = Mutex(false)
  /// Where standard output is no terminal nothing says how wide a line may be.
  private static let plainWidth = 160

  init(_ context: CommandContext, isJSON: Bool) {
    isLive = context.isOutputTerminal && !isJSON && context.environment["TERM"] != "dumb"
    self.isJSON = isJSON
    self.context = context
    screen = WatchScreen(style: TextStyle(isOn: context.usesColour))
  }

  /// Whether somebody may press keys.
  var takesKeys: Bool { isLive && context.isInputTerminal }

  /// Takes the terminal's alternate screen, so that what stood there comes back.
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

  /// Gives the terminal to others while the process is stopped, or ends.
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

  /// Shows the keys below the picture, or hides them.
  func toggleKeys() { footer.withLock { $0.showsKeys.toggle() } }

  /// Says something: below the picture, or on standard error where there is none.
  func tell(_ message: String) {
    guard isLive else { return context.complain(message) }
    footer.withLock { $0.message = message }
  }

  /// Gives the terminal back, and leaves the last picture on it.
  func end(_ snapshot: WatchSnapshot) {
    guard isLive else { return }
    let last = screen.text(snapshot, width: context.terminalSize().columns)
    isTaken.withLock { giveScreen(&$0, last) }
  }
}

/// What stands below the picture on a terminal.
struct WatchFooter: Sendable, Hashable {
  /// The last thing that was said.
  var message: String?
  /// Whether keys do something.
  var takesKeys = false
  /// Whether what they do is told.
  var showsKeys = false
}
