internal import DirectDNS

/// Where snapshots are shown: drawn over one another on a terminal, one after the other elsewhere.
struct WatchDisplay: Sendable {
  /// Whether they are drawn over one another.
  let isLive: Bool
  private let isJSON: Bool
  private let output: any OutputSink
  private let size: @Sendable () -> TerminalSize
  private let screen: WatchScreen
  /// Where standard output is no terminal nothing says how wide a line may be.
  private static let plainWidth = 160

  init(_ context: CommandContext, isJSON: Bool) {
    isLive = context.isOutputTerminal && !isJSON && context.environment["TERM"] != "dumb"
    self.isJSON = isJSON
    output = context.output
    size = context.terminalSize
    screen = WatchScreen(style: TextStyle(isOn: context.usesColour))
  }

  /// Takes the terminal's alternate screen, so that what stood there comes back.
  func begin() { if isLive { try? output.write("\u{1b}[?1049h\u{1b}[?25l") } }

  func show(_ snapshot: WatchSnapshot) throws(StreamError) {
    if isJSON {
      try output.write(JSONLine(snapshot).text)
    } else if isLive {
      try output.write(screen.frame(snapshot, size()))
    } else {
      try output.write(screen.text(snapshot, width: Self.plainWidth))
    }
  }

  /// Gives the terminal back, and leaves the last picture on it.
  func end(_ snapshot: WatchSnapshot) {
    guard isLive else { return }
    try? output.write("\u{1b}[?25h\u{1b}[?1049l" + screen.text(snapshot, width: size().columns))
  }
}
